import type { Database } from '../../src/core/db/database.ts';
import type { SideConnection } from '../../src/core/db/side-connection.ts';
import { EventBus } from '../../src/core/events/event-bus.ts';
import { createLogger } from '../../src/core/log.ts';

const buses = new WeakMap<SideConnection, Promise<EventBus>>();

/** The one bus of a test database, started with its first use; it ends with the process. */
export function busOf(database: Pick<Database, 'side'>): Promise<EventBus> {
  const known = buses.get(database.side);
  if (known) return known;
  const starting = (async () => {
    const bus = new EventBus(database.side, createLogger({ level: 'silent', format: 'json' }));
    await bus.start();
    return bus;
  })();
  buses.set(database.side, starting);
  return starting;
}
