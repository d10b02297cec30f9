/** Writes of administrators on pinned messages. */
import { ADMIN, type AdminWrite, type Fixture } from './admin-write-samples.ts';

const PINNED = '/pinned-messages';
const body = { content: 'Hello' };

/** The active message. What reaches everyone is possible once a minute. */
async function aMessage({ app, boss }: Fixture): Promise<number> {
  await app.db.sql("DELETE FROM service_state WHERE key = 'pinned-messages:cooldown' RETURNING key");
  const reply = await boss.post(`${ADMIN}${PINNED}`, body);
  return reply.body.message.id as number;
}

const onMessage = (action: string, sent?: object): AdminWrite => ({
  kind: 'change',
  request: async (fixture) => ({ path: `${PINNED}/${await aMessage(fixture)}${action}`, body: sent }),
});

const onActive = (action: string): AdminWrite => ({
  kind: 'change',
  request: async (fixture) => {
    await aMessage(fixture);
    return { path: `${PINNED}/active/${action}` };
  },
});

export const PINNED_WRITES: Record<string, AdminWrite> = {
  'POST /pinned-messages': { kind: 'creation', request: async () => ({ path: PINNED, body }) },
  'PATCH /pinned-messages/{message_id}': onMessage('', { content: 'Bye' }),
  'PATCH /pinned-messages/{message_id}/settings': onMessage('/settings', { send_before_menu: false }),
  'POST /pinned-messages/{message_id}/activate': onMessage('/activate'),
  'POST /pinned-messages/{message_id}/broadcast': onMessage('/broadcast'),
  'POST /pinned-messages/active/deactivate': onActive('deactivate'),
  'POST /pinned-messages/active/unpin': onActive('unpin'),
  'DELETE /pinned-messages/{message_id}': {
    kind: 'deletion',
    request: async (fixture) => {
      const id = await aMessage(fixture);
      await fixture.boss.post(`${ADMIN}${PINNED}/active/deactivate`);
      return { path: `${PINNED}/${id}` };
    },
  },
};
