/**
 * Loaded into a process of the service before its own code (`node --import`): records the statements that it sends to the server, and ends the
 * process by SIGKILL at the one with the number `KILL_AT_STATEMENT` (the first is 1). With `COUNT_AFTER` it begins after the first statement that
 * has this text, with `COUNT_CONNECTION` only those of connections of this name count.
 *
 * `KILL_WHEN`: `before` it is sent; `sent`, when nobody has read its answer; `answered`.
 */
import { appendFileSync } from 'node:fs';
import pg from 'pg';

const record = process.env.STATEMENTS_FILE!;
const killAt = Number(process.env.KILL_AT_STATEMENT ?? 0);
const when = process.env.KILL_WHEN ?? 'before';
let isCounting = process.env.COUNT_AFTER === undefined;

const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

type Query = (this: pg.Client & { connectionParameters: { application_name?: string } }, ...args: unknown[]) => unknown;

const query = pg.Client.prototype.query as unknown as Query;
let count = 0;
const counted: Query = function (...args) {
  const [statement] = args as [string | { text?: string }];
  const text = typeof statement === 'string' ? statement : (statement.text ?? '');
  const connection = this.connectionParameters.application_name ?? '';
  if (process.env.COUNT_CONNECTION !== undefined && connection !== process.env.COUNT_CONNECTION) return query.apply(this, args);
  if (!isCounting) {
    isCounting = text.includes(process.env.COUNT_AFTER!);
    return query.apply(this, args);
  }
  count += 1;
  // At once, so that the last line is the statement at which the process ended.
  appendFileSync(record, `${connection}: ${text.trim().split('\n', 1)[0]}\n`);
  if (count !== killAt) return query.apply(this, args);
  if (when === 'before') end();
  if (when === 'answered' && typeof args.at(-1) === 'function') args[args.length - 1] = end;
  const answer = query.apply(this, args);
  if (when === 'sent') setImmediate(end);
  if (when === 'answered')
    void Promise.resolve(answer as Promise<unknown> | undefined).then((result) => result !== undefined && end());
  return answer;
};
pg.Client.prototype.query = counted as unknown as typeof pg.Client.prototype.query;
