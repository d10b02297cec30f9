/**
 * Events that the tests of a file have recorded, held against the definitions of the events: also those of SQL functions, which no type
 * checks.
 */
import { expect } from 'vitest';
import type { App } from '../../src/core/app.ts';
import type { Database } from '../../src/core/db/database.ts';
import type { SqlRunner } from '../../src/core/db/db.ts';
import type { EventDefinition } from '../../src/core/events/define-event.ts';
import type { EventPayload, EventTypes } from '../../src/core/events/event-recorder.ts';

declare global {
  var hasInventedEvents: boolean | undefined;
}

/** Events for the instances, which have no definition because no client receives them. */
const INSTANCE_EVENTS: readonly (keyof EventTypes)[] = ['database.restored', 'setting.changed', 'cache.forgotten'];

/** For files that record events with payloads of their own, to test how events are transported. */
export function inventEvents(): void {
  globalThis.hasInventedEvents = true;
}

interface RecordedEvent {
  type: string;
  payload: unknown;
  audience: string;
  userId: number | null;
}

/** @throws Error that lists the recorded events which their definition does not allow; for the end of a test file */
export async function checkRecordedEvents({ db }: Pick<Database, 'db'>): Promise<void> {
  const isInvented = globalThis.hasInventedEvents === true;
  globalThis.hasInventedEvents = false;
  if (isInvented) return;
  const events = await read(db.sql, '', []);
  if (events.length === 0) return;
  const definitions = await definitionsByType();
  const problems = new Set(events.flatMap((event) => problemOf(event, definitions) ?? []));
  if (problems.size > 0) throw new Error(`Recorded events that are not as defined:\n${[...problems].join('\n')}`);
}

/**
 * The payloads of the recorded events of a type, in their order, each checked against its definition.
 * @param userId of whom; without it all
 */
export async function recordedEvents<K extends keyof EventTypes>(
  app: App,
  type: K,
  userId?: number | null,
): Promise<EventPayload<K>[]> {
  const events = await read(app.db.sql, 'WHERE type = $1 AND ($2::int IS NULL OR user_id = $2::int)', [type, userId ?? null]);
  const definitions = await definitionsByType();
  for (const event of events) expect(problemOf(event, definitions)).toBeNull();
  return events.map(({ payload }) => payload as EventPayload<K>);
}

function read(sql: SqlRunner, where: string, values: unknown[]): Promise<RecordedEvent[]> {
  return sql<RecordedEvent>(`SELECT type, payload, audience, user_id FROM domain_events ${where} ORDER BY id`, values);
}

/** Loaded when it is needed: the definitions belong to many modules. */
async function definitionsByType(): Promise<ReadonlyMap<string, EventDefinition>> {
  const { EVENT_CATALOGUE } = await import('../../src/routers/event-catalogue.ts');
  return new Map(EVENT_CATALOGUE.map((definition) => [definition.type, definition]));
}

function problemOf(event: RecordedEvent, definitions: ReadonlyMap<string, EventDefinition>): string | null {
  const { type, audience, userId } = event;
  if (audience === 'instance')
    return (INSTANCE_EVENTS as string[]).includes(type) ? null : `${type}: not an event for the instances`;
  const definition = definitions.get(type);
  if (!definition) return `${type}: has no definition`;
  if (definition.audience !== audience) return `${type}: sent to ${audience}, but is for ${definition.audience}`;
  if (audience === 'user' && userId === null) return `${type}: sent to no user`;
  const { error } = definition.schema.strict().safeParse(event.payload);
  return error ? `${type}: ${error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join(', ')}` : null;
}
