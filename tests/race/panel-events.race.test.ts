/** The same webhook of the panel many times at once (spec 06 section 17, hazard 9). */
import { expect, it } from 'vitest';
import { processPanelEvent } from '../../src/domain/panel-events/process-event.ts';
import { receivePanelWebhook } from '../../src/domain/panel-events/receive-event.ts';
import { aProvisioned, eventRows, PANEL_WEBHOOK_ON, panelBody, signed, userData } from '../support/panel-events.ts';
import { jobsOf, readRow, withPanel } from '../support/provisioning-setup.ts';

it('one row, one job, one effect, one notice', async () => {
  const t = await withPanel({ environment: PANEL_WEBHOOK_ON });
  const sub = await aProvisioned(t);
  await t.app.db.sql('DELETE FROM panel_events');
  await t.app.db.sql("DELETE FROM jobs.job WHERE name LIKE 'panel.%' OR name = 'messenger.send'");
  const body = panelBody('user.limited', t.clock.now(), userData(sub.panelUser, { status: 'LIMITED' }));
  const receive = () => receivePanelWebhook(t.app, { headers: signed(body), rawBody: Buffer.from(body) });
  const replies = await Promise.all(Array.from({ length: 20 }, receive));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  const jobs = await jobsOf(t.app, 'panel.process-event');
  expect(jobs).toHaveLength(1);
  const { eventId } = jobs[0]!.data as { eventId: number };
  await Promise.all(Array.from({ length: 10 }, () => processPanelEvent(t.app, { eventId })));
  expect(await eventRows(t.app)).toMatchObject([{ result: 'applied' }]);
  expect((await readRow(t.app, sub.id)).status).toBe('limited');
  const notices = (await jobsOf(t.app, 'messenger.send')).filter(
    ({ data }) => (data as { messengerId: number }).messengerId === sub.user.messengerId,
  );
  expect(notices).toHaveLength(1);
});
