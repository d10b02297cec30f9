/** Processor time of a log line at `info`: the line of a request, and an ordinary one with an object in it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger, type Logger } from '../../../../src/core/log.ts';
import { openLogOutput } from '../../../../src/core/log-output.ts';
import { createRedactor } from '../../../../src/core/redaction.ts';

const LINES_PER_TURN = 8;
const IDS = Array.from({ length: 1_000 }, () => randomUUID());
/** As many as an installation with several payment providers has. */
const SECRETS = Array.from({ length: 20 }, (_, index) => randomBytes(12 + index).toString('base64url'));

const LINES: Readonly<Record<string, (log: Logger, index: number) => void>> = {
  'the line of a request': (log, index) =>
    log.info(
      {
        requestId: IDS[index % IDS.length],
        method: 'GET',
        route: '/users/{id}',
        status: 200,
        ms: (index % 100) / 10,
        actor: 'user',
      },
      'request',
    ),
  'an ordinary line': (log, index) =>
    log.info(
      {
        userId: index,
        provider: 'sandbox',
        attempt: 2,
        details: { invoice: IDS[index % IDS.length], amountKopeks: 50_000, at: new Date(0) },
      },
      'a payment was credited',
    ),
};

/** @returns a sentence for each kind of line, with the processor time of the whole process, writing included */
export async function measureLogLines(isQuick: boolean): Promise<string[]> {
  const output = openLogOutput(openSync(devNull, 'w'));
  const log = createLogger({ level: 'info', format: 'json', redactor: createRedactor(SECRETS), stream: output });
  const sentences: string[] = [];
  for (const [name, write] of Object.entries(LINES)) {
    const count = isQuick ? 20_000 : 200_000;
    await writeLines(log, write, count);
    const before = process.cpuUsage();
    await writeLines(log, write, count);
    const { user, system } = process.cpuUsage(before);
    sentences.push(`Processor time of ${name} at LOG_LEVEL=info: ${((user + system) / count).toFixed(1)} µs.`);
  }
  await output.end();
  return sentences;
}

async function writeLines(log: Logger, write: (log: Logger, index: number) => void, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    write(log, index);
    if (index % LINES_PER_TURN === 0) await nextTurn();
  }
}
