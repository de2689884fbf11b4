import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { setTimeout as sleep } from "node:timers/promises";
const onTestFinished = (f) => process.on("exit", f);
const keys = {
  enter: "\r",
  "alt-enter": "\x1B\r",
  "shift-enter": "\x1B[13;2u",
  // as terminals with the kitty protocol send it
  tab: "	",
  "shift-tab": "\x1B[Z",
  esc: "\x1B",
  backspace: "\x7F",
  delete: "\x1B[3~",
  up: "\x1B[A",
  down: "\x1B[B",
  right: "\x1B[C",
  left: "\x1B[D",
  home: "\x1B[H",
  end: "\x1B[F",
  "ctrl-a": "",
  "ctrl-c": "",
  "ctrl-d": "",
  "ctrl-e": "",
  "ctrl-k": "\v",
  "ctrl-l": "\f",
  "ctrl-u": "",
  "ctrl-w": "",
  "ctrl-z": ""
};
function startInTerminal(argv, options = {}) {
  const { cols = 100, rows = 30, cwd = process.cwd() } = options;
  const env = {
    ...process.env,
    TERM: "xterm-256color",
    CI: void 0,
    NO_COLOR: void 0,
    FORCE_COLOR: void 0,
    ...options.env
  };
  for (const name of Object.keys(env)) if (env[name] === void 0) delete env[name];
  const child = spawn(argv[0] ?? "", argv.slice(1), { cols, rows, cwd, env });
  const screen = new xterm.Terminal({ cols, rows, scrollback: 1e5, allowProposedApi: true });
  let raw = "";
  child.onData((data) => {
    raw += data;
    screen.write(data);
  });
  screen.onData((answer) => child.write(answer));
  let ended = false;
  const exit = new Promise((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      ended = true;
      screen.write("", () => resolve(signal ? 128 + signal : exitCode));
    });
  });
  const kill = () => {
    if (!ended) child.kill("SIGKILL");
  };
  try {
    onTestFinished(kill);
  } catch {
  }
  const lines = (from, unwrapped) => {
    const { active } = screen.buffer;
    const found = [];
    for (let row = from; row < active.length; row++) {
      const line = active.getLine(row);
      const text = line?.translateToString(!unwrapped || !active.getLine(row + 1)?.isWrapped) ?? "";
      if (unwrapped && line?.isWrapped) found.push((found.pop() ?? "") + text);
      else found.push(text);
    }
    return found.map((line) => line.trimEnd()).join("\n").trimEnd();
  };
  const pty = {
    pid: child.pid,
    exit,
    type: (text) => child.write(text),
    press: (...pressed) => pressed.forEach((key) => child.write(keys[key])),
    paste(text) {
      const sent = text.replaceAll(/\r?\n/g, "\r");
      child.write(screen.modes.bracketedPasteMode ? `\x1B[200~${sent}\x1B[201~` : sent);
    },
    screen: () => lines(screen.buffer.active.baseY, false),
    scrollback: () => lines(0, true),
    raw: () => raw,
    cursor: () => ({ column: screen.buffer.active.cursorX, row: screen.buffer.active.cursorY }),
    async sees(what, ms) {
      const shows = (text) => typeof what === "string" ? text.includes(what) : what.test(text);
      await pty.until(() => shows(pty.screen()) || shows(pty.scrollback()), ms).catch((error) => {
        throw new Error(`${String(what)} is not there ${error.message}`, { cause: error });
      });
    },
    async until(isSo, ms = 1e4) {
      const end = performance.now() + ms;
      while (!isSo()) {
        if (performance.now() > end) {
          const state = ended ? "the program has ended" : "the program is running";
          throw new Error(`after ${ms} ms (${state}). The screen:
${pty.screen()}`);
        }
        await sleep(10);
      }
    },
    resize(columns, height) {
      screen.resize(columns, height);
      child.resize(columns, height);
    },
    signal: (name) => child.kill(name),
    // Not among its types.
    hangUp: () => child.destroy()
  };
  return pty;
}
export {
  startInTerminal
};
