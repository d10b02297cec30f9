import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Db } from '../../../src/core/db/db.ts';
import { createLogger } from '../../../src/core/log.ts';
import { AuditWriter } from '../../../src/domain/access/audit-log.ts';
import type { AuditEntry } from '../../../src/domain/access/types.ts';

const failure = (code: string) => Object.assign(new Error(`failed with ${code}`), { code });

/** A log table that accepts rows until a test makes it fail or wait. */
function fixture() {
  const lines: string[] = [];
  const table = {
    /** `resource_id` of each row, in the order of writing. */
    rows: [] as string[],
    statements: 0,
    /** Runs before a statement takes effect. */
    onStatement: async (_ids: string[]): Promise<void> => undefined,
  };
  const sql = async (_text: string, [json]: readonly unknown[] = []) => {
    const ids = (JSON.parse(String(json)) as { resource_id: string }[]).map((row) => row.resource_id);
    table.statements += 1;
    await table.onStatement(ids);
    table.rows.push(...ids);
    return [];
  };
  const db = { sql, prisma: null, begin: null } as unknown as Db;
  const writer = new AuditWriter(
    createLogger({ level: 'info', format: 'json', stream: { write: (line: string) => lines.push(line) } }),
  );
  const settled: string[] = [];
  return {
    table,
    writer,
    /** Ids of the rows whose answers may go out. */
    settled,
    /** As a change records its row: an answer waits. */
    change(id: string) {
      void writer.record(db, entry(id), true).then(() => settled.push(id));
    },
    /** As a read does. */
    read: (id: string) => void writer.record(db, entry(id)),
    levels: () => [...new Set(lines.map((line) => JSON.parse(line).level as string))],
    lines,
  };
}

const entry = (id: string): AuditEntry => ({
  userId: null,
  actorName: 'test',
  action: 'users:edit',
  resourceType: 'users',
  resourceId: id,
  details: {},
  ipAddress: null,
  userAgent: null,
  status: 'success',
  requestMethod: 'PUT',
  requestPath: '/',
  at: new Date(0),
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('an answer', () => {
  it.each(['ECONNREFUSED', '57014', '55P03'])(
    'does not wait for a database that fails with %s, but its row does',
    async (code) => {
      const { table, change, settled, levels } = fixture();
      table.onStatement = async () => Promise.reject(failure(code));
      change('1');
      change('2');
      await pass(0);
      expect(settled).toEqual(['1', '2']);
      expect([table.rows, table.statements]).toEqual([[], 1]);
      await pass(1_000);
      expect(table.statements).toBe(2);
      table.onStatement = async () => undefined;
      await pass(1_000);
      expect(table.rows).toEqual(['1', '2']);
      // Late is not lost.
      expect(levels()).toEqual(['warn']);
    },
  );

  it('waits two seconds for a database that is slow, and its row is written all the same, once', async () => {
    const { table, change, settled, lines } = fixture();
    table.onStatement = () => new Promise((resolve) => setTimeout(resolve, 10_000));
    change('1');
    await pass(500);
    change('2');
    await pass(1_499);
    expect(settled).toEqual([]);
    await pass(1);
    expect(settled).toEqual(['1']);
    await pass(500);
    expect(settled).toEqual(['1', '2']);
    await pass(30_000);
    expect(table.rows).toEqual(['1', '2']);
    expect(lines).toEqual([]);
  });

  it('shares one time-out with all that wait for a locked table', async () => {
    const { table, change, settled } = fixture();
    table.onStatement = () => new Promise((_, reject) => setTimeout(() => reject(failure('57014')), 1_000));
    change('first');
    await pass(10);
    for (const id of ids(50)) change(id);
    await pass(990);
    expect(settled).toEqual(['first', ...ids(50)]);
    expect(table.statements).toBe(1);
  });
});

describe('rows', () => {
  it('are written once and in order when the database goes away between two of them', async () => {
    const { table, change, settled } = fixture();
    let isGone = false;
    table.onStatement = async (rows) => {
      if (rows.length > 1) throw failure('23514');
      if (rows[0] === '2' && !isGone) {
        isGone = true;
        throw failure('ECONNRESET');
      }
    };
    for (const id of ['1', '2', '3']) change(id);
    await pass(0);
    expect([table.rows, settled]).toEqual([['1'], ['1', '2', '3']]);
    change('4');
    await pass(1_000);
    expect(table.rows).toEqual(['1', '2', '3', '4']);
  });

  it('that wait are bounded, the oldest go first, and that is an error', async () => {
    const { table, writer, read, levels } = fixture();
    table.onStatement = async () => Promise.reject(failure('ECONNREFUSED'));
    for (const id of ids(20_300)) read(id);
    await pass(1_000);
    expect(levels()).toContain('error');
    table.onStatement = async () => undefined;
    await writer.flush();
    expect(table.rows.length).toBeLessThanOrEqual(20_000);
    expect(table.rows).toEqual(ids(20_300).slice(-table.rows.length));
  });
});

describe('the stop', () => {
  it('writes rows whose answers are out already', async () => {
    const { table, writer, change, settled } = fixture();
    table.onStatement = async () => Promise.reject(failure('57014'));
    change('1');
    await pass(0);
    expect(settled).toEqual(['1']);
    table.onStatement = async () => undefined;
    await writer.flush();
    expect(table.rows).toEqual(['1']);
    await pass(5_000);
    expect(table.statements).toBe(2);
  });

  it('is not over while a row that came meanwhile is being written', async () => {
    const { table, writer, read, change } = fixture();
    table.onStatement = () => new Promise((resolve) => setTimeout(resolve, 100));
    read('1');
    const flushed = vi.fn();
    void writer.flush().then(() => flushed([...table.rows]));
    await pass(50);
    change('2');
    await pass(300);
    // All were in the table before the database may be closed.
    expect(flushed).toHaveBeenCalledWith(['1', '2']);
  });

  it('waits for a statement under way, and writes what it puts back', async () => {
    const { table, writer, change } = fixture();
    table.onStatement = async () => {
      const isFirst = table.statements === 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (isFirst) throw failure('57014');
    };
    change('1');
    await pass(0);
    const flushed = vi.fn();
    void writer.flush().then(() => flushed([...table.rows]));
    await pass(300);
    expect(flushed).toHaveBeenCalledWith(['1']);
    expect(table.statements).toBe(2);
  });

  it('takes one time-out when the table stays locked, and logs what is lost', async () => {
    const { table, writer, read, lines } = fixture();
    table.onStatement = async () => Promise.reject(failure('57014'));
    for (const id of ids(450)) read(id);
    await writer.flush();
    expect(table.statements).toBe(1);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ level: 'error', msg: 'AUDIT ROWS LOST', rows: 450 });
  });
});
