/** A broadcast to a few recipients: each gets it once, or it is unconfirmed whether he got it (spec 05 section 16). */
import { randomUUID } from 'node:crypto';
import type { KillFixture } from './kill-fixture.ts';
import { aUser, outcomeOf, type Trial } from './trial.ts';

const RECIPIENTS = 4;

export async function aBroadcastTrial(fixture: KillFixture): Promise<Trial> {
  const { app, fakes, service, requester, apiToken } = fixture;
  // Only the new users are the audience.
  await app.db.sql("UPDATE users SET status = 'blocked' WHERE status <> 'blocked' RETURNING id");
  const recipients = await Promise.all(Array.from({ length: RECIPIENTS }, () => aUser(fixture, 0)));
  const text = `Drill ${randomUUID()}`;
  const headers = { 'x-api-key': apiToken, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const body = JSON.stringify({ target: 'all', message_text: text });
  const receivedBy = async (messengerId: number) =>
    (await fakes.messenger.messages()).filter((message) => message.chatId === messengerId && message.text === text).length;
  return {
    send: async () => outcomeOf(await requester.send({ method: 'POST', url: `${service.url}/broadcasts`, headers, body })),
    books: async () => ({}),
    violations: async (whole) => {
      const wrong: string[] = [];
      const sends = await app.db.sql<{ id: number; state: string; total: number; sent: number; unconfirmed: number }>(
        `SELECT s.id, s.state, s.total, s.sent, s.unconfirmed FROM mass_sends s JOIN broadcast_history b ON b.id = s.source_id
         WHERE s.kind = 'broadcast' AND b.message_text = $1`,
        [text],
      );
      const [send] = sends;
      if (sends.length !== 1 || send === undefined) return [`${sends.length} broadcasts instead of one`];
      const isWhole = send.state === 'done' && send.total === RECIPIENTS && send.sent + send.unconfirmed === RECIPIENTS;
      if (!isWhole || (whole === null && send.unconfirmed > 0)) wrong.push(`the broadcast is ${JSON.stringify(send)}`);
      for (const { id, messengerId } of recipients) {
        const [row] = await app.db.sql<{ state: string }>(
          'SELECT state FROM mass_send_recipients WHERE send_id = $1::int AND user_id = $2::int',
          [send.id, id],
        );
        const times = await receivedBy(messengerId);
        const isRight = row?.state === 'unconfirmed' ? times <= 1 : row?.state === 'sent' && times === 1;
        if (!isRight) wrong.push(`recipient ${id} got it ${times} times and is ${row?.state ?? 'not recorded'}`);
      }
      return wrong;
    },
  };
}
