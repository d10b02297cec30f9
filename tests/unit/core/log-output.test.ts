import { execFile } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger, isoTime } from '../../../src/core/log.ts';
import { type LogOutput, openLogOutput } from '../../../src/core/log-output.ts';
import { eventually } from '../../support/eventually.ts';

describe('openLogOutput', () => {
  let folder: string;
  let path: string;
  let output: LogOutput;
  const written = () => readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const messages = () => written().map((line) => (JSON.parse(line) as { msg: string }).msg);
  const logger = () => createLogger({ level: 'info', format: 'json', stream: output });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-output-'));
    path = join(folder, 'lines');
    output = openLogOutput(openSync(path, 'w'));
  });

  afterEach(async () => {
    await output.end();
    rmSync(folder, { recursive: true });
  });

  it('writes a line that nothing follows', async () => {
    logger().info('alone');
    await eventually(() => expect(messages()).toEqual(['alone']));
  });

  it('writes an error without waiting for the timer, after the lines before it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const log = logger();
    log.info('before');
    log.error('failure');
    log.info('after');
    vi.useRealTimers();
    await eventually(() => expect(messages().slice(0, 2)).toEqual(['before', 'failure']));
  });

  it('has written a fatal line, and all before it, when the call returns', () => {
    const log = logger();
    log.info('before');
    log.fatal('the end');
    expect(messages()).toEqual(['before', 'the end']);
  });

  it('writes every line once and in order, from many turns of the event loop', async () => {
    const log = logger();
    const expected = Array.from({ length: 3_000 }, (_, index) => `line ${index} ${'ж'.repeat(index % 90)}`);
    for (const [index, text] of expected.entries()) {
      if (index % 100 === 99) log.error(text);
      else log.info(text);
      if (index % 7 === 0) await nextTurn();
    }
    await eventually(() => expect(messages()).toHaveLength(expected.length));
    expect(messages()).toEqual(expected);
  });

  it('hands over what waits when asked to', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const log = logger();
    log.info('waits');
    await new Promise<void>((resolve) => log.flush(() => resolve()));
    vi.useRealTimers();
    expect(messages()).toEqual(['waits']);
  });
});

describe('the logger of a process that ends', () => {
  const core = join(import.meta.dirname, '..', '..', '..', 'src', 'core', 'log.ts');
  const run = async (then: string) => {
    const script = `import { createLogger } from ${JSON.stringify(core)};
      const log = createLogger({ level: 'info', format: 'json' });
      for (let i = 0; i < 500; i += 1) log.info('line ' + i);
      ${then}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script]);
    return stdout.split('\n').filter(Boolean).length;
  };

  it.each(['', 'process.exit(0);', 'setTimeout(() => process.exit(0), 1);', 'setImmediate(() => process.exit(0));'])(
    'loses no line: %j',
    async (then) => {
      expect(await run(then)).toBe(500);
    },
  );
});

describe('isoTime', () => {
  it('gives what Date gives, also when the clock is set back', () => {
    const times = [
      0, 1, 999, 1_000, 1_700_000_000_123, 1_700_000_000_124, 1_700_000_001_000, 1_700_000_000_999, 951_782_399_999, -1,
    ];
    let now = 0;
    const text = isoTime(() => now);
    for (const time of times) {
      now = time;
      expect(text()).toBe(`,"time":"${new Date(time).toISOString()}"`);
    }
  });
});
