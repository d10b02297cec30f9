/**
 * Events that the tests of a file have recorded, held against the definitions of the events: also those of SQL functions, which no type
 * checks.
 */
import { expect } from 'vitest';
import type { App } from '../../src/core/app.ts';
import type { Database } from '../../src/core/db/database.ts';
import type { SqlRunner } from '../../src/core/db/db.ts';
import type { EventDefinition } from '../../src/core/events/define-event.ts';
import type { Audience, EventPayload, EventTypes } from '../../src/core/events/event-recorder.ts';

declare global {
  var hasInventedEvents: boolean | undefined;
}

/** Events for the instances, which have no definition because no client receives them. */
const INSTANCE_EVENTS: readonly (keyof EventTypes)[] = ['database.restored', 'setting.changed', 'cache.forgotten'];

/** For files that record events with payloads of their own, to test how events are transported. */
export function inventEvents(): void {
  globalThis.hasInventedEvents = true;
}

/** A recorded event. */
export type RecordedEvent<K extends keyof EventTypes = keyof EventTypes> = {
  [T in K]: { type: T; audience: EventTypes[T]['audience']; payload: EventPayload<T> };
}[K];

interface EventRow {
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
  app: Pick<App, 'db'>,
  type: K,
  userId?: number | null,
): Promise<EventPayload<K>[]> {
  const rows = await readChecked(app.db.sql, 'WHERE type = $1 AND ($2::int IS NULL OR user_id = $2::int)', [
    type,
    userId ?? null,
  ]);
  return rows.map(({ payload }) => payload as EventPayload<K>);
}

/**
 * The recorded events of several types, in their order, each checked against its definition.
 * @param userId about whom; null for all
 * @param filter.audience only what these receive
 * @param filter.prefix only the types that begin so, for example `subscription.`
 */
export async function recordedEventsOf(
  app: Pick<App, 'db'>,
  userId: number | null,
  filter: { audience?: Audience; prefix?: string } = {},
): Promise<RecordedEvent[]> {
  const rows = await readChecked(
    app.db.sql,
    'WHERE ($1::int IS NULL OR user_id = $1::int) AND ($2::text IS NULL OR audience = $2) AND starts_with(type, $3)',
    [userId, filter.audience ?? null, filter.prefix ?? ''],
  );
  return rows.map(({ type, audience, payload }) => ({ type, audience, payload }) as RecordedEvent);
}

/** The types of `recordedEventsOf`. */
export async function recordedTypesOf(...of: Parameters<typeof recordedEventsOf>): Promise<(keyof EventTypes)[]> {
  return (await recordedEventsOf(...of)).map(({ type }) => type);
}

async function readChecked(sql: SqlRunner, where: string, values: unknown[]): Promise<EventRow[]> {
  const rows = await read(sql, where, values);
  const definitions = await definitionsByType();
  for (const row of rows) expect(problemOf(row, definitions)).toBeNull();
  return rows;
}

function read(sql: SqlRunner, where: string, values: unknown[]): Promise<EventRow[]> {
  return sql<EventRow>(`SELECT type, payload, audience, user_id FROM domain_events ${where} ORDER BY id`, values);
}

/** Loaded when it is needed: the definitions belong to many modules. */
async function definitionsByType(): Promise<ReadonlyMap<string, EventDefinition>> {
  const { EVENT_CATALOGUE } = await import('../../src/routers/event-catalogue.ts');
  return new Map(EVENT_CATALOGUE.map((definition) => [definition.type, definition]));
}

function problemOf(event: EventRow, definitions: ReadonlyMap<string, EventDefinition>): string | null {
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
