import { createServer } from 'node:net';

/** The service cannot listen at its address; the message is for the person who starts it. */
class ListenError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'ListenError';
  }
}

/**
 * Listens briefly, so that an address that cannot be used is found before anything else is made (spec 10 K8).
 * @param port 0 = any free port, which needs no check
 * @throws ListenError
 */
export async function assertCanListen(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  }).catch((error: unknown) => {
    throw listenFailure(error, host, port);
  });
}

/** The failure of a `listen` as a sentence; any other error as it is. */
export function listenFailure(error: unknown, host: string, port: number): unknown {
  const sentence = SENTENCES[String((error as NodeJS.ErrnoException).code)];
  return sentence === undefined ? error : new ListenError(sentence(host, port), { cause: error });
}

const SENTENCES: Record<string, (host: string, port: number) => string> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} of ${host} is in use by another program, perhaps by this service. Stop it, or set another port: PORT=${port + 1}`,
  EACCES: (_host, port) =>
    `Port ${port} may not be used by this user. Set a port above 1023 in PORT, or grant the right to use it.`,
  EADDRNOTAVAIL: (host) => `HOST=${host} is no address of this machine. Set one that is, or 0.0.0.0 for all of them.`,
};
