/** Second entry point of the package, for pages of administrators: a page of the cabinet alone does not read these types. */
import type { AdminProcedures } from './admin-procedures.ts';
import { apiProxy } from './api-proxy.ts';
import { builtFacts } from './built-facts.ts';
import { type CabinetClient, type CabinetClientOptions, createClientParts } from './create-client.ts';
import type { FeedMessages } from './live-events.ts';
import type { LiveFeed } from './live-feed.ts';

export type { AdminProcedures } from './admin-procedures.ts';

export interface AdminClient extends CabinetClient {
  /** `admin.<group>.<procedure>.query(input)` or `.mutate(input)`: the operations of the administration (`/cabinet/admin`). */
  readonly admin: AdminProcedures;
  /**
   * Events of the whole service (`/ws`), for an administrator whose role has every permission of `feedPermissions`; another one's connection is
   * refused.
   */
  readonly feed: LiveFeed<FeedMessages>;
}

/** Permissions without which the service does not open `AdminClient.feed`. */
export const feedPermissions: readonly string[] = ['users:read', 'payments:read', 'tickets:read', 'approvals:read'];

/** A client of the administration for browsers and Node: that of the cabinet, with the operations and the feed of administrators. */
export function createAdminClient(options: CabinetClientOptions): AdminClient {
  const { client, caller, feedAt } = createClientParts(options, builtFacts);
  const feed = feedAt<FeedMessages>('/ws', 'feed');
  return {
    ...client,
    admin: apiProxy<AdminProcedures>(caller, 'admin'),
    feed,
    close: () => {
      feed.close();
      client.close();
    },
  };
}
