import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderEventPage, renderEventTypes, renderNoticeTypes } from '../../../scripts/render-events.ts';
import { EVENT_CATALOGUE } from '../../../src/routers/event-catalogue.ts';
import { WebhookCreateRequest } from '../../../src/routers/web/webhooks.router.ts';
import { documentOfService } from '../../support/served-routes.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

it('spec 10 K3: each event has one definition, whose example fits its schema and whose fields are described', () => {
  expect(new Set(EVENT_CATALOGUE.map(({ type }) => type)).size).toBe(EVENT_CATALOGUE.length);
  for (const { type, schema, example, description } of EVENT_CATALOGUE) {
    expect([type, schema.strict().safeParse(example).error]).toEqual([type, undefined]);
    expect(description).not.toBe('');
    for (const [name, field] of Object.entries(schema.shape)) {
      expect([type, name, typeof field.description]).toEqual([type, name, 'string']);
    }
  }
});

it('spec 10 K3: the page and the types of the client are current (run: node scripts/on-runtime.mjs scripts/events.ts --write)', () => {
  expect(read('docs/events.md')).toBe(renderEventPage(EVENT_CATALOGUE));
  expect(read('packages/client/src/event-types.ts')).toBe(renderEventTypes(EVENT_CATALOGUE));
  expect(read('packages/client/src/notice-types.ts')).toBe(renderNoticeTypes(EVENT_CATALOGUE));
});

it('spec 10 K3: the document lists every event, and as webhooks those to which one can subscribe', () => {
  const document = documentOfService as unknown as { webhooks: object; 'x-events': object };
  expect(Object.keys(document['x-events'])).toEqual(EVENT_CATALOGUE.map(({ type }) => type));
  expect(Object.keys(document.webhooks).sort()).toEqual([...WebhookCreateRequest.shape.event_type.options].sort());
  for (const type of ['broadcast.progress', 'pinned_message.progress']) {
    expect(document['x-events']).toHaveProperty([type], expect.objectContaining({ audience: 'staff', feed: '/cabinet/ws' }));
  }
});
