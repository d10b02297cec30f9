/** Workers of a pinned message as processes of their own, killed between messages and pins. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findSend } from '../../src/domain/mass-sends/repo.ts';
import { createPinnedMessage } from '../../src/domain/pinned-messages/pinned-messages.ts';
import { aCrowd } from '../support/audience-samples.ts';
import { FAST } from '../support/broadcast-samples.ts';
import { lastPinSend, PINNED, TOKEN } from '../support/pinned-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

let t: TestApp;
let database: TestDatabase;

describe.skipIf(!serverUrl)('600 recipients and 4 kills (left out without a server: TEST_DATABASE_URL)', () => {
  const RECIPIENTS = 600;
  const FIRST_CHAT = 7_000_000_000;
  /** What a worker has under way at most: its lanes, one share each. */
  const UNDER_WAY = 75;
  /**
   * Numbers of calls at which the worker that made the call is killed: messages and pins come in turns. With what each kill can leave
   * unconfirmed without a call, the last still comes before all recipients are through.
   */
  const kills = [40, 111, 222, 370];
  const KILLS = kills.length;

  const messagesOf = new Map<number, number[]>();
  const pinsOf = new Map<number, Set<number>>();
  const workers = new Set<ChildProcess>();
  let messenger: Server;
  let calls = 0;
  let messages = 0;

  /** The messenger: what a killed worker sent has arrived. */
  function answer(method: string, { chat_id: chatId, message_id: messageId }: { chat_id: number; message_id: number }): unknown {
    if (method === 'pinChatMessage') {
      pinsOf.set(chatId, (pinsOf.get(chatId) ?? new Set()).add(messageId));
      return true;
    }
    if (method === 'unpinChatMessage') return pinsOf.get(chatId)?.delete(messageId) ?? true;
    messages += 1;
    messagesOf.set(chatId, [...(messagesOf.get(chatId) ?? []), messages]);
    return { message_id: messages, date: 0, chat: { id: chatId, type: 'private' } };
  }

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 5 });
    t = await testApp({ environment: FAST, database });
    messenger = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        // The token names the process that makes the call.
        const [, pid, method] = /\/bot(\d+)\/(\w+)/.exec(request.url ?? '')!;
        const result = answer(method!, JSON.parse(Buffer.concat(chunks).toString()) as never);
        calls += 1;
        if (calls === kills[0]) {
          kills.shift();
          [...workers].find((worker) => worker.pid === Number(pid))?.kill('SIGKILL');
        }
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ ok: true, result }));
      });
    });
    // A stalled process does not find its connection closed.
    messenger.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => messenger.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    messenger.closeAllConnections();
    messenger.close();
    await database.drop();
  });

  test('nobody gets a second message, and who has the message has it pinned, while others are unconfirmed', async () => {
    await t.app.db.sql("UPDATE users SET status = 'blocked' RETURNING id");
    const ids = await aCrowd(t.app, RECIPIENTS);
    await t.app.db.sql('UPDATE users SET messenger_id = $2::bigint + id WHERE id = ANY($1::int[]) RETURNING id', [
      ids,
      FIRST_CHAT,
    ]);
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE NOT (id = ANY($1::int[])) RETURNING id", [ids]);
    await createPinnedMessage(t.app, TOKEN, PINNED, { broadcast: true, language: null });
    const { id } = await lastPinSend(t.app);
    const url = `http://127.0.0.1:${(messenger.address() as AddressInfo).port}`;
    let killed = 0;
    const work = async (): Promise<void> => {
      const script = join(import.meta.dirname, '..', 'support', 'send-worker.ts');
      const worker = spawn(process.execPath, [script, database.url!, url, String(id)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      workers.add(worker);
      const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null];
      workers.delete(worker);
      if (signal === null) return expect(code).toBe(0);
      killed += 1;
      return work();
    };
    await work();
    expect(killed).toBe(KILLS);
    const send = (await findSend(t.app.db, id))!;
    expect(send).toMatchObject({ state: 'done', total: RECIPIENTS, failed: 0, blocked: 0, repeated: 0 });
    expect(send.sent + send.unconfirmed).toBe(RECIPIENTS);
    // Each run but the first has taken the send over from one that was killed, or did not renew its lease because it got no processor.
    expect(send.run - 1).toBeGreaterThanOrEqual(KILLS);
    expect(send.unconfirmed).toBeLessThanOrEqual((send.run - 1) * UNDER_WAY);
    const rows = await t.app.db.sql<{ chatId: number; messageId: number; isPinned: boolean }>(
      `SELECT d.chat_id, d.message_id, d.is_pinned FROM mass_send_recipients r
       JOIN pinned_deliveries d ON d.user_id = r.user_id WHERE r.send_id = $1::int AND r.state = 'sent'`,
      [id],
    );
    expect(rows).toHaveLength(send.sent);
    expect([...messagesOf].filter(([, received]) => received.length > 1)).toEqual([]);
    expect(rows.filter(({ chatId }) => !messagesOf.has(chatId))).toEqual([]);
    // The message that is pinned is the one that the row knows, so that it can be unpinned.
    expect(rows.filter(({ isPinned }) => !isPinned)).toEqual([]);
    expect(rows.filter(({ chatId, messageId }) => !pinsOf.get(chatId)?.has(messageId) || pinsOf.get(chatId)!.size !== 1)).toEqual(
      [],
    );
  });
});
