import type { App } from '../../src/core/app.ts';
import { openSession, type SignIn } from '../../src/domain/identity/sessions/sessions.ts';
import type { BuiltUser } from '../support/builders.ts';
import { connect, type SocketClient } from './socket-client.ts';

/** Opens `/cabinet/ws` with the access token of a session, a new one unless given, for tests of the real gate. */
export async function connectToCabinet(
  app: App,
  server: { url: string },
  user: BuiltUser,
  session?: Pick<SignIn, 'accessToken'>,
): Promise<SocketClient> {
  const { accessToken } = session ?? (await openSession(app, user.id));
  return connect(`${server.url}/cabinet/ws?token=${accessToken}`);
}
