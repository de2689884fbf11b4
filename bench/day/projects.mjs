import { c } from './c.mjs';
import { databases } from './databases.mjs';
import { log } from './log.mjs';
import { isHere } from './make.mjs';
import { python } from './python.mjs';
import { bisect, conflict } from './repositories.mjs';
import { typescript } from './typescript.mjs';
import { web } from './web.mjs';

const native = ['cmake', 'ctest', 'cc'].every(isHere) ? [c] : [];

/** The projects of the day whose programs are on this machine. */
export const projects = [
  typescript,
  ...(isHere('python3') ? [python] : []),
  ...native,
  conflict,
  bisect,
  web,
  ...databases,
  log,
];
