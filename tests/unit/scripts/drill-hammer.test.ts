import { appendFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Fixture } from '../../../packages/measures/src/drills/fixture.ts';
import { startHammer } from '../../../packages/measures/src/drills/hammer-process.ts';
import type { Answer } from '../../../packages/measures/src/drills/requester.ts';
import { WriteBook } from '../../../packages/measures/src/drills/write-book.ts';
import { readRecords, WriteJournal } from '../../../packages/measures/src/drills/write-journal.ts';
import { eventually } from '../../support/eventually.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hammer-'));
  path = join(folder, 'book.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const onDisk = () => readRecords(readFileSync(path, 'utf8')).map(({ record }) => record);
const answer = (status: number): Answer => ({ status, body: '', problem: null, headers: {} });
const again = async () => true;
const call = () => ({ method: 'POST' as const, url: '' });

describe('the book on the disk', () => {
  test('has a write and its try before the call, and the answer after it', async () => {
    const journal = await WriteJournal.open(path);
    const book = new WriteBook(journal);
    const atCalls: string[][] = [];
    const statuses = [503, 200];
    const send = async () => {
      atCalls.push(onDisk());
      return answer(statuses.shift()!);
    };
    await book.sendUntilAcknowledged(book.begin('balance', 1, 100), { send, close: () => undefined }, call, again);
    expect(atCalls).toEqual([
      ['write', 'try'],
      ['write', 'try', 'answer', 'try'],
    ]);
    expect(onDisk()).toEqual(['write', 'try', 'answer', 'try', 'answer']);
    await journal.close();
  });

  test('is read again with what was acknowledged, what was not, and the answers', async () => {
    const journal = await WriteJournal.open(path);
    const book = new WriteBook(journal);
    const sender = (status: number) => ({ send: async () => answer(status), close: () => undefined });
    const done = book.begin('callback', 1, 100, 'payment-1');
    const open = book.begin('purchase', 2, -100);
    await book.sendUntilAcknowledged(done, sender(200), call, again);
    await book.sendUntilAcknowledged(open, sender(500), call, async () => false);
    await book.countRead('read', answer(404));
    await journal.close();
    const reopened = await WriteJournal.open(path);
    const read = new WriteBook(reopened);
    await reopened.close();
    expect(read.writes).toEqual([done, open]);
    expect(read.statuses).toEqual(book.statuses);
    expect(read.unexpected.map(({ status }) => status)).toEqual([500, 404]);
    expect(Math.abs(read.successes[0]! - book.successes[0]!)).toBeLessThan(60_000);
  });

  test('loses a last line that was being written, and nothing else', async () => {
    const journal = await WriteJournal.open(path);
    new WriteBook(journal).begin('balance', 1, 100);
    await journal.close();
    appendFileSync(path, '{"record":"try","ke');
    const reopened = await WriteJournal.open(path);
    await reopened.append({ record: 'try', key: reopened.records.map((record) => 'key' in record && record.key)[0] as string });
    await reopened.close();
    expect(onDisk()).toEqual(['write', 'try']);
  });
});

/** A service that forgets the answer to each second request, after its effect; and answers 200 to a key that it has seen. */
async function aService(): Promise<{ server: Server; url: string; keys: Map<string, string[]> }> {
  const keys = new Map<string, string[]>();
  let count = 0;
  const textOf = async (request: IncomingMessage) => {
    let text = '';
    for await (const part of request) text += String(part);
    return text;
  };
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    if (request.method === 'GET') return void response.end('{}');
    const key = String(request.headers['idempotency-key'] ?? (JSON.parse(body) as { invoice: { id: string } }).invoice.id);
    keys.set(key, [...(keys.get(key) ?? []), `${request.url} ${body}`]);
    count += 1;
    if (count % 2 === 0) response.destroy();
    else response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys };
}

test('a hammer that is killed goes on with its book: the same keys, and each is acknowledged in the end', async () => {
  const { server, url, keys } = await aService();
  const userIds = [1, 2, 3, 4, 5, 6];
  const payments = userIds.map((userId) => ({ externalId: `payment-${userId}`, userId, amountKopeks: 500 }));
  const fixture = {
    apiToken: 'token',
    userIds,
    tokenOf: (id: number) => `token of ${id}`,
    tariffId: 1,
    priceKopeks: 100,
    callbackSecret: 'secret',
    payments,
    logFolder: folder,
  } as unknown as Fixture;
  const clients = { balance: 3, purchase: 2, callback: 1, read: 1 };
  const hammer = await startHammer(fixture, {
    seed: 7,
    load: { urls: [url], clients, pauseMs: 1 },
    stop: { limitMs: 60_000, callbacksMs: 60_000 },
  });
  try {
    const { book } = hammer;
    let open = 0;
    for (const wanted of [20, 60, 100]) {
      await eventually(async () => expect(book.successes.length).toBeGreaterThanOrEqual(wanted));
      open += await hammer.kill();
    }
    await eventually(async () => expect(book.successes.length).toBeGreaterThanOrEqual(140));
    await hammer.stop();
    expect(open).toBeGreaterThan(0);
    expect(book.writes.filter(({ isAcknowledged }) => !isAcknowledged)).toEqual([]);
    expect(new Set(book.writes.map(({ key }) => key)).size).toBe(book.writes.length);
    expect([...keys.keys()].sort()).toEqual(book.writes.map(({ key }) => key).sort());
    // A repeat is the same request.
    for (const requests of keys.values()) expect(new Set(requests).size).toBe(1);
    expect(payments.every(({ externalId }) => keys.has(externalId))).toBe(true);
  } finally {
    await hammer.end();
    server.closeAllConnections();
    server.close();
  }
});
