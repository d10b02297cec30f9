/** The audience of an event is that of its definition, by type: what is for one user cannot be sent to all, nor the reverse. */
import { expect, it } from 'vitest';
import { type EventRecorder, sqlEventRecorder } from '../../../src/core/events/event-recorder.ts';
import { SUBSCRIPTION_EXPIRED } from '../../../src/domain/subscriptions/events.ts';
import { TICKET_EVENTS } from '../../../src/domain/tickets/events.ts';

const clock = { now: () => new Date('2026-05-01T12:00:00Z') };

it('an event is recorded for the audience of its definition, and another does not compile', async () => {
  const sent: unknown[][] = [];
  const events: EventRecorder = sqlEventRecorder(
    async (_text, values = []) => {
      sent.push([...values]);
      return [];
    },
    clock,
    () => undefined,
  );
  await events.emit(SUBSCRIPTION_EXPIRED, {}, { audience: 'user', userId: 7 });
  await events.emit('setting.changed', { key: 'A' }, { audience: 'instance' });
  expect(sent.map(([type, , audience, userId]) => [type, audience, userId])).toEqual([
    ['subscription.expired', 'user', 7],
    ['setting.changed', 'instance', null],
  ]);
  const { example } = TICKET_EVENTS.find(({ type }) => type === 'ticket.new')!;
  // Only compiled.
  const _refused = () => {
    // @ts-expect-error for one user, sent to all clients of the feed
    void events.emit(SUBSCRIPTION_EXPIRED, {}, { audience: 'feed' });
    // @ts-expect-error for one user, but no user is named
    void events.emit(SUBSCRIPTION_EXPIRED, {}, { audience: 'user' });
    // @ts-expect-error for staff, sent to a user
    void events.emit('ticket.new', example, { audience: 'user', userId: 7 });
    // @ts-expect-error for the instances, sent to staff
    void events.emit('setting.changed', { key: 'A' }, { audience: 'staff' });
    // @ts-expect-error no such event
    void events.emit('ticket.lost', {}, { audience: 'feed' });
  };
});
