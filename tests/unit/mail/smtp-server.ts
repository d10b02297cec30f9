import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

interface ReceivedMail {
  from: string;
  to: string[];
  data: string;
}

export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  commands: string[];
  connections(): number;
  /** Ends the connections that are open, as servers do with idle ones. */
  endConnections(): void;
  close(): Promise<void>;
}

/** Key and certificate, PEM. Not implicit: the server offers STARTTLS if its extensions have it. */
interface ServerTls {
  key: string;
  cert: string;
  isImplicit: boolean;
}

interface SmtpOptions {
  extensions?: string[];
  rejectRcpt?: string;
  /** Breaks the connection in place of its greeting or of an answer: to the address, or to the mail, which it keeps. */
  breaksAt?: 'greeting' | 'RCPT' | 'content';
  /** The answer to the mail. */
  answer?: string;
  tls?: ServerTls;
}

/** A mail server small enough to read: EHLO with the given extensions, then MAIL, RCPT, DATA. */
export async function startSmtpServer(options: SmtpOptions = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const accept = (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    serve(socket, { ...options, mails, commands });
  };
  const { tls } = options;
  const server = tls?.isImplicit ? createTlsServer(tls, accept) : createServer(accept);
  // A client that does not trust the certificate ends the connection.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    commands,
    connections: () => connections,
    endConnections: () => {
      for (const socket of sockets) socket.end();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

interface Session extends SmtpOptions {
  mails: ReceivedMail[];
  commands: string[];
}

/** @param isUpgraded after STARTTLS: the client begins again, and gets no second greeting */
function serve(socket: Socket, session: Session, isUpgraded = false): void {
  let buffer = '';
  let mail: ReceivedMail = { from: '', to: [], data: '' };
  let inData = false;
  const say = (line: string) => socket.write(`${line}\r\n`);

  const command = (line: string) => {
    session.commands.push(socket instanceof TLSSocket ? `TLS ${line}` : line);
    const verb = line.split(/[ :]/)[0]?.toUpperCase();
    if (verb === 'EHLO')
      for (const [index, text] of ['test', ...(session.extensions ?? [])].entries()) {
        say(`250${index === (session.extensions ?? []).length ? ' ' : '-'}${text}`);
      }
    else if (verb === 'STARTTLS') {
      socket.removeAllListeners('data');
      socket.write('220 go on\r\n');
      const secured = new TLSSocket(socket, { isServer: true, ...session.tls });
      secured.on('error', () => socket.destroy());
      const { extensions = [] } = session;
      serve(secured, { ...session, extensions: extensions.filter((name) => name !== 'STARTTLS') }, true);
    } else if (verb === 'AUTH') say('235 ok');
    else if (verb === 'MAIL') {
      mail = { from: line.slice(10), to: [], data: '' };
      say('250 ok');
    } else if (verb === 'RCPT') {
      mail.to.push(line.slice(8));
      if (session.breaksAt === 'RCPT') socket.destroy();
      else say(session.rejectRcpt ?? '250 ok');
    } else if (verb === 'DATA') {
      inData = true;
      say('354 go on');
    } else if (verb === 'QUIT') socket.end('221 bye\r\n');
    else say(verb === 'RSET' || verb === 'NOOP' ? '250 ok' : '502 not known');
  };

  socket.on('data', (chunk) => {
    buffer += chunk.toString('utf8');
    for (;;) {
      const end = buffer.indexOf(inData ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const part = buffer.slice(0, end);
      buffer = buffer.slice(end + (inData ? 5 : 2));
      if (!inData) {
        command(part);
        continue;
      }
      inData = false;
      session.mails.push({ ...mail, data: part });
      if (session.breaksAt === 'content') socket.destroy();
      else say(session.answer ?? '250 queued');
    }
  });
  if (session.breaksAt === 'greeting') socket.end();
  else if (!isUpgraded) say('220 test ESMTP');
}
