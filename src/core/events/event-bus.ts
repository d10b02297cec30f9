import type { Database } from '../db/database.ts';
import { runOutsideTransaction } from '../db/root-guard.ts';
import type { Logger } from '../log.ts';
import type { DomainEvent } from './event-recorder.ts';

export type EventListener = (event: DomainEvent) => void;

/** After a lost connection, events of this period are read again; those already delivered are left out. */
const CATCH_UP_SECONDS = 60;
const REMEMBERED_IDS = 10_000;
const BATCH = 500;

/** Delivers committed events of every instance to the listeners of this instance: `/ws`, `/cabinet/ws`, tests. */
export class EventBus {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #listeners = new Set<EventListener>();
  readonly #seen = new Set<number>();
  #waiting: number[] = [];
  #draining = false;
  #stop: (() => Promise<void>) | null = null;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#stop = await this.#database.listen(
      'domain_events',
      (payload) => this.#enqueue([Number(payload)]),
      () => void this.#catchUp(),
    );
  }

  async stop(): Promise<void> {
    await this.#stop?.();
    this.#listeners.clear();
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #enqueue(ids: number[]): void {
    this.#waiting.push(...ids);
    if (!this.#draining) {
      this.#draining = true;
      // A NOTIFY of the embedded database arrives inside the flow of the transaction that sent it.
      runOutsideTransaction(() => void this.#drain());
    }
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const ids = this.#waiting.splice(0, BATCH).filter((id) => !this.#seen.has(id));
        if (ids.length === 0) continue;
        this.#deliver(
          await this.#database.db.sql<DomainEvent>(
            'SELECT id, type, payload, audience, user_id, created_at FROM domain_events WHERE id = ANY($1::bigint[]) ORDER BY id',
            [ids],
          ),
        );
      }
    } catch (error) {
      this.#log.error({ err: error }, 'events could not be read; they are read again with the next reconnect');
    } finally {
      this.#draining = false;
    }
  }

  async #catchUp(): Promise<void> {
    try {
      const rows = await this.#database.db.sql<DomainEvent>(
        `SELECT id, type, payload, audience, user_id, created_at FROM domain_events
         WHERE created_at > (SELECT max(created_at) FROM domain_events) - $1::int * interval '1 second' ORDER BY id`,
        [CATCH_UP_SECONDS],
      );
      this.#deliver(rows.filter((row) => !this.#seen.has(row.id)));
    } catch (error) {
      this.#log.error({ err: error }, 'missed events could not be read');
    }
  }

  #deliver(events: DomainEvent[]): void {
    for (const event of events) {
      this.#remember(event.id);
      for (const listener of this.#listeners) {
        try {
          listener(event);
        } catch (error) {
          this.#log.error({ err: error, eventType: event.type }, 'an event listener failed');
        }
      }
    }
  }

  #remember(id: number): void {
    this.#seen.add(id);
    if (this.#seen.size > REMEMBERED_IDS) {
      for (const old of this.#seen) {
        this.#seen.delete(old);
        if (this.#seen.size <= REMEMBERED_IDS / 2) break;
      }
    }
  }
}
