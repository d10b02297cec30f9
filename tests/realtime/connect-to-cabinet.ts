import type { App } from '../../src/core/app.ts';
import { signAccessToken } from '../../src/domain/identity/sessions/sign-tokens.ts';
import type { BuiltUser } from '../support/builders.ts';
import { connect, type SocketClient } from './socket-client.ts';

/** Opens `/cabinet/ws` with a real access token, for tests of the real gate. */
export async function connectToCabinet(app: App, server: { url: string }, user: BuiltUser): Promise<SocketClient> {
  const claims = { permissions: [], roles: [], roleLevel: 0, sessionsEndedAt: null };
  const token = await signAccessToken(app, { ...claims, userId: user.id, messengerId: user.messengerId });
  return connect(`${server.url}/cabinet/ws?token=${token}`);
}
