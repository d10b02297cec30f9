import type { App } from '../core/app.ts';
import { authorizeAdmin } from '../domain/access/effective-access.ts';
import { recheckSessions } from '../domain/identity/authenticate.ts';
import { sessionEnded } from '../domain/identity/errors.ts';
import { lifeOf } from './cabinet-access.ts';
import type { Access, OpenCredential } from './feed.ts';

/**
 * The events of `/ws` for administrators in a browser, which must not have an API token (spec 05 section 12.1). A feed has the events of all
 * users, so it is open to those only who may read each kind of them.
 */
const FEED_PERMISSIONS = ['users:read', 'payments:read', 'tickets:read', 'approvals:read'];

const JWT = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/;

/** Tells an access token from an API token; its signature is checked later. */
export function isAccessToken(credential: string | null): boolean {
  return credential !== null && JWT.test(credential);
}

interface AdminSession {
  userId: number;
  sessionId: string;
  ip: string | null;
}

/** Whether the sockets of these sessions may go on. @returns in their order the access, or the AppError that ends them */
async function readAccess(app: App, open: readonly AdminSession[]): Promise<PromiseSettledResult<Access>[]> {
  const sessions = await recheckSessions(app, open);
  return Promise.allSettled(
    sessions.map(async (session, index) => {
      if (session.status === 'rejected') throw session.reason;
      const { userId, sessionId, ip } = open[index]!;
      const { value: user } = session;
      for (const permission of FEED_PERMISSIONS) {
        await authorizeAdmin(app, user, permission, {
          ip,
          session: { id: sessionId, provedAt: null, hasSecondFactor: user.hasSecondFactor },
        });
      }
      const greeting = { type: 'connection', status: 'connected', message: 'WebSocket connection established' };
      return { actor: `admin:${userId}`, userId, receivesStaffEvents: false, sessionId, expiresAt: null, greeting };
    }),
  );
}

/** @throws AppError 401 | 403 */
export async function administratorAccess(app: App, userId: number, jwt: string, ip: string | null): Promise<Access> {
  const { sessionId } = lifeOf(jwt);
  // A token of a release before sessions had ids: another sign-in helps.
  if (sessionId === null) throw sessionEnded();
  const [result] = await readAccess(app, [{ userId, sessionId, ip }]);
  if (result!.status === 'rejected') throw result!.reason;
  return result!.value;
}

export function recheckAdministrators(app: App, open: readonly OpenCredential[]): Promise<PromiseSettledResult<Access>[]> {
  return readAccess(
    app,
    open.map(({ access, ip }) => ({ userId: access.userId!, sessionId: access.sessionId!, ip })),
  );
}
