import type { Database, SideConnection } from '../../src/core/db/database.ts';
import { EventBus } from '../../src/core/events/event-bus.ts';
import { createLogger } from '../../src/core/log.ts';
import { outsideOfTests } from './abandoned-tests.ts';

declare global {
  var testBuses: WeakMap<SideConnection, Promise<EventBus>> | undefined;
}

/**
 * The one bus of a test database, started with its first use; it ends with the process. Kept on `globalThis` because files of a worker
 * share a context but not modules: a bus for each file would go on looking for events.
 */
export function busOf(database: Pick<Database, 'side'>): Promise<EventBus> {
  globalThis.testBuses ??= new WeakMap();
  const buses = globalThis.testBuses;
  const known = buses.get(database.side);
  if (known) return known;
  const starting = outsideOfTests(async () => {
    const bus = new EventBus(database.side, createLogger({ level: 'silent', format: 'json' }));
    await bus.start();
    return bus;
  });
  buses.set(database.side, starting);
  return starting;
}
