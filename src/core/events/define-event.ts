import type { z } from 'zod';
import type { Audience } from './event-recorder.ts';

/** Permission that the receivers of `staff` events have (spec 05 section 12.2). */
export const STAFF_PERMISSION = 'tickets:read';

/** What clients are promised of an event; the types of the client package, the document and docs/events.md are made from it (spec 10 K3). */
export interface EventDefinition<Type extends string = string, Schema extends z.ZodObject = z.ZodObject> {
  readonly type: Type;
  /** Payload, each field with its description. */
  readonly schema: Schema;
  readonly audience: Exclude<Audience, 'instance'>;
  /** When it is sent, as sentences. */
  readonly description: string;
  readonly example: z.output<Schema>;
  /** A webhook can subscribe to it; only `feed` events. */
  readonly hasWebhook: boolean;
}

/** Payload types by event type, for `EventTypes`. */
export type PayloadsOf<Definitions extends readonly EventDefinition[]> = {
  [Definition in Definitions[number] as Definition['type']]: z.output<Definition['schema']>;
};

/** Defines an event that clients receive: the only place that names its payload. */
export function defineEvent<const Type extends string, Schema extends z.ZodObject>(
  type: Type,
  schema: Schema,
  facts: Omit<EventDefinition<Type, Schema>, 'type' | 'schema' | 'hasWebhook'> & { hasWebhook?: boolean },
): EventDefinition<Type, Schema> {
  return { hasWebhook: false, ...facts, type, schema };
}
