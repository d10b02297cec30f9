import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../clock.ts';
import type { SideConnection } from '../db/database.ts';
import { runOutsideTransaction } from '../db/root-guard.ts';
import type { Logger } from '../log.ts';
import {
  isOfRound,
  readDatabaseNumber,
  readIdRange,
  readNewEvents,
  readPage,
  readSnapshot,
  type StoredEvent,
  settleForeignEvents,
} from './event-log.ts';
import { type EventPosition, endOf, issueTime, type PositionOrigin, positionTexts } from './event-position.ts';
import type { DomainEvent } from './event-recorder.ts';

/** A committed event with the text by which a client says that it has it. */
export interface DeliveredEvent extends DomainEvent {
  readonly positionText: string;
}

export type EventListener = (event: DeliveredEvent) => void;

/** Channel of the notices "there are new events"; the payload names the instance that sends it. */
const CHANNEL = 'domain_events';
/** Events that are committed within this time are read, and announced to the other instances, together. */
const MIN_PAUSE_MS = 20;
/** How often events are looked for that nobody announced: their process ended after the commit, or a notice was lost. */
const SWEEP_MS = SECOND_MS / 2;
const PAGE = 1_000;
const EVERY_EVENT = { of: 'all' } as const;

/**
 * Delivers the committed events of every instance to the listeners of this instance: once each, those of one user in the order of their
 * commits. The rows alone decide what is new (event-position.ts); notices only say when to look. The business transaction sends none,
 * because PostgreSQL would commit all transactions that send one after another (spec 08 L1). A failed read changes nothing and is repeated.
 */
export class EventBus {
  readonly #side: SideConnection;
  readonly #log: Logger;
  readonly #instance = randomUUID();
  readonly #listeners = new Set<EventListener>();
  readonly #drains = new Set<() => Promise<void>>();
  #position: EventPosition = endOf({ next: 0, running: [] });
  #database = 0;
  /** Set while a round is too long for one read: the highest id that may belong to it. */
  #backlogEnd: number | null = null;
  #isWanted = false;
  /** Something else than a notice of another instance caused the next look. */
  #isFirsthand = false;
  #isRunning = false;
  #isStopped = false;
  #isFailing = false;
  #lastReadAt = Number.NEGATIVE_INFINITY;
  #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(side: SideConnection, log: Logger) {
    this.#side = side;
    this.#log = log;
  }

  /** Begins after the events that are committed by now. */
  async start(): Promise<void> {
    const settled = await settleForeignEvents(this.#side.sql);
    if (settled > 0) this.#log.warn({ events: settled }, 'events of another database server were found; they are not delivered');
    this.#database = await readDatabaseNumber(this.#side.sql);
    this.#position = endOf(await readSnapshot(this.#side.sql));
    // Only now: a notice that arrived before there is a position would read every event that is stored.
    await this.#side.listen(CHANNEL, (instance) => {
      if (instance !== this.#instance) this.#look(false);
    });
    this.#timer = setInterval(() => this.#look(true), SWEEP_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#listeners.clear();
    while (this.#isRunning) await pause(5);
  }

  /** What has been delivered by now. */
  get position(): EventPosition {
    return this.#position;
  }

  /** Of a position that is issued now. */
  get origin(): PositionOrigin {
    return { database: this.#database, issuedAt: issueTime() };
  }

  /**
   * @param drained is awaited between the pages of a long list of missed events, so that they do not fill the memory
   * @returns a function that ends the subscription
   */
  subscribe(listener: EventListener, drained?: () => Promise<void>): () => void {
    this.#listeners.add(listener);
    if (drained) this.#drains.add(drained);
    return () => {
      this.#listeners.delete(listener);
      if (drained) this.#drains.delete(drained);
    };
  }

  /** This instance has committed events, or may have. */
  announce(): void {
    this.#look(true);
  }

  /** Resolves when everything that was committed before the call has been delivered. @throws when the database cannot be read */
  async refresh(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      if (this.#isStopped) return reject(new Error('the event bus has stopped'));
      this.#waiting.push({ resolve, reject });
      this.#look(true);
    });
  }

  #look(isFirsthand: boolean): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    this.#isFirsthand ||= isFirsthand;
    if (this.#isRunning) return;
    this.#isRunning = true;
    // The caller may be inside a transaction, or a query of one on the embedded database.
    runOutsideTransaction(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      const wait = this.#lastReadAt + MIN_PAUSE_MS - performance.now();
      // Never longer: a clock that goes back must not stop the delivery.
      if (wait > 0) await pause(Math.min(wait, MIN_PAUSE_MS));
      this.#lastReadAt = performance.now();
      this.#isWanted = false;
      const isFirsthand = this.#isFirsthand;
      this.#isFirsthand = false;
      // The end of an earlier round says nothing about what was committed since that began.
      const waiting = this.#backlogEnd === null ? this.#waiting.splice(0) : [];
      try {
        const delivered = await this.#read();
        this.#isFailing = false;
        for (const { resolve } of waiting) resolve();
        if (delivered > 0 && isFirsthand) this.#notifyOthers();
      } catch (error) {
        this.#failed(error);
        for (const { reject } of waiting) reject(error);
      }
    }
    this.#isRunning = false;
    for (const { reject } of this.#isStopped ? this.#waiting.splice(0) : []) reject(new Error('the event bus has stopped'));
  }

  #notifyOthers(): void {
    this.#side.notify(CHANNEL, this.#instance).catch((error: unknown) => {
      this.#log.debug({ err: error }, 'the other instances were not notified; they find the events by themselves');
    });
  }

  /** During an outage one line is enough. */
  #failed(error: unknown): void {
    if (this.#isFailing || this.#isStopped) return;
    this.#isFailing = true;
    this.#log.warn({ err: error }, 'events could not be read; they are read when the database answers again');
  }

  /** @returns how many events were delivered */
  async #read(): Promise<number> {
    if (this.#backlogEnd !== null) return this.#readBacklog();
    const { base } = this.#position;
    const found = await readNewEvents(this.#side.sql, base, { scope: EVERY_EVENT, limit: PAGE, below: null });
    if (found.isCut) {
      this.#backlogEnd = await this.#beginBacklog({ base, target: found.snapshot, throughId: 0 });
      return this.#readBacklog();
    }
    this.#deliver(found.events, { base, target: found.snapshot, throughId: 0 });
    this.#position = endOf(found.snapshot);
    return found.events.length;
  }

  /** A round of any length, page by page. A read that fails is continued by the next look. */
  async #readBacklog(): Promise<number> {
    let delivered = 0;
    for (let end = this.#backlogEnd; end !== null && !this.#isStopped; ) {
      const { base, target, throughId } = this.#position;
      const page = await readPage(this.#side.sql, throughId, end, { scope: EVERY_EVENT, limit: PAGE });
      const events = page.filter((event) => isOfRound(event, base, target));
      this.#deliver(events, this.#position);
      delivered += events.length;
      const isLast = page.length < PAGE;
      this.#position = isLast ? endOf(target) : { base, target, throughId: page.at(-1)!.id };
      if (isLast) end = null;
      for (const drained of this.#drains) await drained();
    }
    this.#backlogEnd = null;
    // What was committed meanwhile.
    this.#look(true);
    return delivered;
  }

  async #beginBacklog(round: EventPosition): Promise<number> {
    const ids = await readIdRange(this.#side.sql, round.base, EVERY_EVENT);
    this.#position = { ...round, throughId: (ids?.first ?? 1) - 1 };
    return ids?.last ?? 0;
  }

  #deliver(events: readonly StoredEvent[], round: EventPosition): void {
    if (events.length === 0) return;
    const textAfter = positionTexts(round, this.origin);
    for (const event of events) {
      const delivered = { ...event, positionText: textAfter(event.id) };
      for (const listener of this.#listeners) {
        try {
          listener(delivered);
        } catch (error) {
          this.#log.error({ err: error, eventType: event.type }, 'an event listener failed');
        }
      }
    }
  }
}
