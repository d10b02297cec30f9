/**
 * Commands beside the running service (spec 10 K8). One process can use the embedded database, so the command line sends the command to the
 * service over a socket in the data folder, and the service runs it. The socket is no part of the HTTP port: only the user who runs the
 * service can open it, as only he can read the data.
 */
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { App } from '../core/app.ts';
import { type CommandCall, CommandError, type CommandResult, UsageError } from './command.ts';
import { describeFailure } from './describe-failure.ts';

/** The shortest limit of the systems for the path of a socket (macOS), with its end. */
const MAX_PATH_BYTES = 103;
const MAX_REQUEST_CHARACTERS = 65_536;
/** So that a client that sends nothing does not keep a connection. */
const REQUEST_LIMIT_MS = 10_000;

const requestSchema = z.object({
  command: z.string(),
  words: z.array(z.string()),
  options: z.record(z.string(), z.union([z.string(), z.boolean()])),
  isJson: z.boolean(),
});

type Request = z.infer<typeof requestSchema>;

type Answer =
  | { kind: 'out' | 'err'; text: string }
  | { kind: 'result'; result: CommandResult }
  | { kind: 'failure'; message: string; isUsage: boolean };

/** Path of the socket of a data folder; null where there can be none: Windows, or a path that is too long. */
function socketPath(dataDir: string): string | null {
  const path = join(dataDir, 'command.sock');
  return process.platform === 'win32' || Buffer.byteLength(path) > MAX_PATH_BYTES ? null : path;
}

/**
 * Runs commands of the command line in this process. Only with the embedded database; with a server they open it themselves.
 * @returns a function that closes the socket and removes it
 */
export async function serveCommands(app: App): Promise<() => Promise<void>> {
  const path = app.env.databaseUrl === null ? socketPath(app.env.dataDir) : null;
  if (path === null) return async () => undefined;
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    // The client is gone; what it began ends as if it were there.
    socket.on('error', () => socket.destroy());
    void answer(app, socket);
  });
  // One that a killed process left: this process has the lock of the folder.
  await rm(path, { force: true });
  // Nobody else can connect at any time: the rights are set when the socket is made, and not only afterwards.
  const mask = process.umask(0o177);
  server.listen(path);
  process.umask(mask);
  await once(server, 'listening');
  await chmod(path, 0o600);
  server.unref();
  return async () => {
    for (const socket of connections) socket.destroy();
    if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
    await rm(path, { force: true });
  };
}

/** Never rejects. */
async function answer(app: App, socket: Socket): Promise<void> {
  const send = (part: Answer) => {
    if (!socket.destroyed) socket.write(`${JSON.stringify(part)}\n`);
  };
  try {
    const request = await readRequest(socket);
    const { commands } = await import('./commands.ts');
    const command = commands.find(({ name, runsInService }) => name === request.command && runsInService === true);
    if (command === undefined) throw new CommandError(`"${request.command}" cannot run in the service.`);
    app.log.info({ command: command.name }, 'a command of the command line runs');
    const result = await command.run({
      ...{ words: request.words, options: request.options, isJson: request.isJson, isVerbose: false, app },
      terminal: {
        source: {},
        out: (text) => send({ kind: 'out', text }),
        err: (text) => send({ kind: 'err', text }),
        input: Readable.from([]),
      },
      progress: (text) => send({ kind: 'err', text: `${text}\n` }),
    });
    send({ kind: 'result', result });
  } catch (error) {
    // Any failure: it is the answer of the command.
    send({ kind: 'failure', message: describeFailure(error), isUsage: error instanceof UsageError });
  }
  socket.end();
}

async function readRequest(socket: Socket): Promise<Request> {
  const timer = setTimeout(() => socket.destroy(), REQUEST_LIMIT_MS);
  let text = '';
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      text += chunk.toString('utf8');
      if (text.length > MAX_REQUEST_CHARACTERS) throw new CommandError('The command is too long.');
      if (text.endsWith('\n')) break;
    }
  } finally {
    clearTimeout(timer);
  }
  const request = requestSchema.safeParse(text === '' ? null : JSON.parse(text));
  if (!request.success) throw new CommandError('The service does not know this form of a command. Is it of another release?');
  return request.data;
}

/**
 * Runs the command in the service that uses the data folder.
 * @param name of a command that `runsInService`
 * @returns null when no service answers there: the command then opens the database itself
 * @throws UsageError, CommandError
 */
export async function runInService(dataDir: string, name: string, call: CommandCall): Promise<CommandResult | null> {
  const path = socketPath(dataDir);
  const socket = path === null ? null : await openSocket(path);
  if (socket === null) return null;
  const options = Object.fromEntries(Object.entries(call.options).filter(([, value]) => value !== undefined));
  socket.write(`${JSON.stringify({ command: name, words: call.words, options, isJson: call.isJson })}\n`);
  for await (const line of createInterface({ input: socket })) {
    const part = JSON.parse(line) as Answer;
    if (part.kind === 'failure') throw part.isUsage ? new UsageError(part.message) : new CommandError(part.message);
    if (part.kind === 'result') return part.result;
    call.terminal[part.kind](part.text);
  }
  throw new CommandError('The service ended before it had answered. Look whether the command was done before you repeat it.');
}

/** Null when nobody listens there. */
function openSocket(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}
