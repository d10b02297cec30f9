/** What is made from the definitions of events: docs/events.md and the event types of the client package (spec 10 K3). */
import { type EventDefinition, STAFF_PERMISSION } from '../src/core/events/define-event.ts';
import { EVENT_FEEDS, payloadSchema } from '../src/rest/document-events.ts';

interface FieldSchema {
  type?: string | string[];
  description?: string;
  enum?: string[];
  anyOf?: FieldSchema[];
}

function fieldsOf(event: EventDefinition): { name: string; schema: FieldSchema; isRequired: boolean }[] {
  const { properties = {}, required = [] } = payloadSchema(event) as {
    properties?: Record<string, FieldSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

/** @throws Error for a schema that no event has yet */
function typeOf({ type, enum: values, anyOf }: FieldSchema): string {
  if (Array.isArray(type)) return type.map((one) => typeOf({ type: one })).join(' | ');
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  if (values) return values.map((value) => `'${value}'`).join(' | ');
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  throw new Error(`No type for a field of type ${type}`);
}

/** Text of `packages/client/src/event-types.ts`. */
export function renderEventTypes(events: readonly EventDefinition[]): string {
  const feed = events.filter(({ audience }) => audience === 'feed');
  const cabinet = events.filter((event) => event.audience !== 'feed' && !isNotice(event));
  return `// Made by scripts/events.ts from the definitions of the events; see docs/events.md.
import type { NoticeEvents } from './notice-types.ts';

/** Events of \`/cabinet/ws\`: fields beside \`type\`. Those "for staff" go to users with the permission \`${STAFF_PERMISSION}\`. */
export interface CabinetEvents extends NoticeEvents {
${cabinet.map(memberOf).join('\n')}
}

/** Payloads of \`/ws\` and of webhooks, by type. */
export interface FeedEvents {
${feed.map(memberOf).join('\n')}
}
`;
}

function isNotice({ type }: EventDefinition): boolean {
  return type.startsWith('notification.');
}

/** Text of `packages/client/src/notice-types.ts`. */
export function renderNoticeTypes(events: readonly EventDefinition[]): string {
  return `// Made by scripts/events.ts from the definitions of the events; see docs/events.md.

/** Events of \`/cabinet/ws\` for users without a messenger, with the values of their texts. Later releases may add others. */
export interface NoticeEvents {
${events.filter(isNotice).map(memberOf).join('\n')}
  [notice: \`notification.\${string}\`]: Record<string, unknown>;
}
`;
}

function memberOf(event: EventDefinition): string {
  const fields = fieldsOf(event).map(({ name, schema, isRequired }) => {
    const type = isRequired ? typeOf(schema) : `${typeOf(schema)} | undefined`;
    return `    /** ${schema.description} */\n    ${name}${isRequired ? '' : '?'}: ${type};`;
  });
  const comment = event.audience === 'staff' ? `For staff. ${event.description}` : event.description;
  const body = fields.length === 0 ? 'Record<never, never>' : `{\n${fields.join('\n')}\n  }`;
  return `  /** ${comment} */\n  '${event.type}': ${body};`;
}

const RECEIVERS = {
  feed: 'every client of `/ws`',
  user: 'the user, on `/cabinet/ws`',
  staff: `users with \`${STAFF_PERMISSION}\`, on \`/cabinet/ws\``,
} as const;

/** Text of `docs/events.md`. */
export function renderEventPage(events: readonly EventDefinition[]): string {
  const rows = events.map(({ type, audience, hasWebhook }) => {
    return `| [\`${type}\`](#${type.replaceAll(/[^a-z_]/g, '')}) | \`${EVENT_FEEDS[audience]}\` | ${audience} | ${hasWebhook ? 'yes' : ''} |`;
  });
  return `# Live events

Made by \`scripts/events.ts\` from the definitions in the code; the document has the same as \`x-events\` and \`webhooks\`. An event of \`/ws\` is
\`{type, payload, timestamp, id, event_id}\`, one of \`/cabinet/ws\` has the fields beside \`type\`, \`id\` and \`event_id\`, and a webhook receives the
payload. \`id\` is a position (another one after a resume), \`event_id\` the id of the event. Later releases may add events and fields.

| Event | Feed | Audience | Webhook |
|---|---|---|---|
${rows.join('\n')}

${events.map(sectionOf).join('\n')}`;
}

function sectionOf(event: EventDefinition): string {
  const rows = fieldsOf(event).map(({ name, schema, isRequired }) => {
    const type = typeOf(schema).replaceAll(' | ', ' or ').replaceAll("'", '`');
    return `| \`${name}\`${isRequired ? '' : ' (optional)'} | ${type} | ${schema.description} |`;
  });
  const table = rows.length === 0 ? 'No fields.' : `| Field | Type | Meaning |\n|---|---|---|\n${rows.join('\n')}`;
  const webhook = event.hasWebhook ? ', and webhooks' : '';
  const example = `\`\`\`json\n${JSON.stringify(event.example)}\n\`\`\``;
  return `## ${event.type}\n\n${event.description} Receivers: ${RECEIVERS[event.audience]}${webhook}.\n\n${table}\n\n${example}\n`;
}
