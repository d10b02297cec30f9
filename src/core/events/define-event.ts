import type { z } from 'zod';
import type { Audience, EventType } from './event-recorder.ts';

/** Who receives an event of clients. */
type ClientAudience = Exclude<Audience, 'instance'>;

/** Permission that the receivers of `staff` events have (spec 05 section 12.2). */
export const STAFF_PERMISSION = 'tickets:read';

/** What clients are promised of an event; the types of the client package, the document and docs/events.md are made from it (spec 10 K3). */
export interface EventDefinition<
  Type extends string = string,
  Schema extends z.ZodObject = z.ZodObject,
  To extends ClientAudience = ClientAudience,
> {
  readonly type: Type;
  /** Payload, each field with its description. */
  readonly schema: Schema;
  readonly audience: To;
  /** When it is sent, as sentences. */
  readonly description: string;
  readonly example: z.output<Schema>;
  /** A webhook can subscribe to it; only `feed` events. */
  readonly hasWebhook: boolean;
}

/** Payload and audience by event type, for `EventTypes`. */
export type EventsOf<Definitions extends readonly EventDefinition[]> = {
  [Definition in Definitions[number] as Definition['type']]: EventType<z.output<Definition['schema']>, Definition['audience']>;
};

/** Defines an event that clients receive: the only place that names its payload. */
export function defineEvent<const Type extends string, Schema extends z.ZodObject, const To extends ClientAudience>(
  type: Type,
  schema: Schema,
  facts: Omit<EventDefinition<Type, Schema, To>, 'type' | 'schema' | 'hasWebhook'> & { hasWebhook?: boolean },
): EventDefinition<Type, Schema, To> {
  return { hasWebhook: false, ...facts, type, schema };
}
