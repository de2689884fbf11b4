import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { PermitRequest } from '../../src/core/tool.ts';
import { approvalFixture, type ApprovalFixture } from '../support/approval-fixture.ts';
import { connectWithPerson, person } from '../support/person.ts';
import { connect, connectV1, eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

let fixture: ApprovalFixture;
beforeAll(async () => {
  fixture = await approvalFixture();
});
afterAll(() => fixture.end());
beforeEach(() => fixture.forget());

const reset: PermitRequest = {
  effects: ['destroy'],
  folder: '/work/project',
  command: 'git reset --hard',
};
const build: PermitRequest = { effects: ['execute'], folder: '/work/project', command: 'npm run build' };

describe('when the client cannot ask', () => {
  const urlOnly = { url: {} };
  const clients = {
    'the first SDK': () => connectV1(fixture.options),
    ...Object.fromEntries(eras.map((era) => [era, () => connect(era, fixture.options)])),
    ...Object.fromEntries(
      eras.map((era) => [
        `${era}, which only opens pages`,
        () => connectWithPerson(era, person('yes'), fixture.options, urlOnly),
      ]),
    ),
  };

  it.each(Object.entries(clients))('the settings decide: %s', async (_, connectTo) => {
    const client = await connectTo();
    onTestFinished(() => client.close());
    const call = async () => textOf(await client.callTool({ name: 'tool', arguments: {} }));
    fixture.world({ requests: [reset] });
    const told = await call();
    expect(told).toMatch(/^NEEDS_CONFIRM: .*whenUnasked\.destroy "allow" in the configuration file/);
    expect(told).toContain("--rule 'tool(git reset --hard)=allow', or whenUnasked");
    expect(told).toMatch(/, then start the server again\.$/);
    fixture.world({ requests: [build] });
    const refused = await call();
    expect(refused).toMatch(/whenUnasked\.execute "allow"/);
    expect(refused).toContain('toolcrib trust "/work/project"');
    expect(fixture.done()).toEqual([]);
    fixture.world({ requests: [reset], policy: { whenUnasked: { destroy: 'allow' } } });
    expect(await call()).toBe('done');
  });

  it('each of the reasons needs leave, whichever comes first', async () => {
    const client = await connect('2026-07-28', fixture.options);
    onTestFinished(() => client.close());
    const call = async () => textOf(await client.callTool({ name: 'tool', arguments: {} }));
    const both: PermitRequest = { ...build, effects: ['destroy', 'execute'] };
    const rules = [{ pattern: 'tool', decision: 'ask' as const, setting: 'rules "tool"' }];
    fixture.world({ requests: [both], policy: { whenUnasked: { destroy: 'allow' } } });
    expect(await call()).toMatch(/whenUnasked\.execute "allow"/);
    fixture.world({ requests: [both], policy: { rules, whenUnasked: { destroy: 'allow', rule: 'allow' } } });
    expect(await call()).toMatch(/whenUnasked\.execute "allow"/);
    fixture.world({
      requests: [{ ...reset, asks: 'protected' }],
      policy: { whenUnasked: { protected: 'allow' } },
    });
    expect(await call()).toMatch(/whenUnasked\.destroy "allow"/);
    fixture.world({
      requests: [{ ...both, asks: 'command' }],
      policy: { whenUnasked: { command: 'allow' } },
    });
    expect(await call()).toBe('done');
  });

  it.each([
    ["it's", "--rule 'tool=allow'"],
    ['a\u200bb', "--rule 'tool=allow'"],
    ['x'.repeat(101), "--rule 'tool=allow'"],
    ['x'.repeat(100), `--rule 'tool(${'x'.repeat(100)})=allow'`],
  ])('names a rule that can be pasted: %j', async (command, rule) => {
    const client = await connect('2026-07-28', fixture.options);
    onTestFinished(() => client.close());
    fixture.world({ requests: [{ ...reset, command }] });
    expect(textOf(await client.callTool({ name: 'tool', arguments: {} }))).toContain(rule);
  });

  it('names the setting that asks, and no rule that would not help', async () => {
    const client = await connect('2026-07-28', fixture.options);
    onTestFinished(() => client.close());
    const rules = [{ pattern: 'tool', decision: 'ask' as const, setting: 'rules "tool" of f.json' }];
    fixture.world({ requests: [reset], policy: { rules, whenUnasked: { destroy: 'allow' } } });
    const told = textOf(await client.callTool({ name: 'tool', arguments: {} }));
    expect(told).toContain('the settings say so (rules "tool" of f.json).');
    expect(told).not.toContain('--rule');
  });

  it('what the settings deny is not asked about', async () => {
    const ada = person('yes');
    const client = await connectWithPerson('2025-11-25', ada, fixture.options);
    onTestFinished(() => client.close());
    fixture.world({ requests: [reset], policy: { effects: { destroy: 'deny' } } });
    const refused = textOf(await client.callTool({ name: 'tool', arguments: {} }));
    expect(refused).toBe('EFFECT_DENIED: tool is not allowed: effects.destroy is "deny".');
    expect(ada.asked).toEqual([]);
  });
});
