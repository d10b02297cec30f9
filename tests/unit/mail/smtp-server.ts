import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  from: string;
  to: string[];
  data: string;
}

export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  commands: string[];
  connections(): number;
  close(): Promise<void>;
}

/** A mail server small enough to read: EHLO with the given extensions, then MAIL, RCPT, DATA. */
export async function startSmtpServer(options: { extensions?: string[]; rejectRcpt?: string } = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    serve(socket, { ...options, mails, commands });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    commands,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

interface Session {
  extensions?: string[];
  rejectRcpt?: string;
  mails: ReceivedMail[];
  commands: string[];
}

function serve(socket: Socket, session: Session): void {
  let buffer = '';
  let mail: ReceivedMail = { from: '', to: [], data: '' };
  let inData = false;
  const say = (line: string) => socket.write(`${line}\r\n`);

  const command = (line: string) => {
    session.commands.push(line);
    const verb = line.split(/[ :]/)[0]?.toUpperCase();
    if (verb === 'EHLO')
      for (const [index, text] of ['test', ...(session.extensions ?? [])].entries()) {
        say(`250${index === (session.extensions ?? []).length ? ' ' : '-'}${text}`);
      }
    else if (verb === 'AUTH') say('235 ok');
    else if (verb === 'MAIL') {
      mail = { from: line.slice(10), to: [], data: '' };
      say('250 ok');
    } else if (verb === 'RCPT') {
      mail.to.push(line.slice(8));
      say(session.rejectRcpt ?? '250 ok');
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
      say('250 queued');
    }
  });
  say('220 test ESMTP');
}
