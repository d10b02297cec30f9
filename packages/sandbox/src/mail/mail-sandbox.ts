import type { SandboxStore } from '../host-ports.ts';
import { jsonObject, jsonReply, type LoopbackServer, startLoopbackServer } from '../loopback-server.ts';
import { StoredState } from '../stored-state.ts';

/** Mails stored; older ones are dropped. */
const MAX_MAILS = 200;

export interface SandboxMail {
  id: number;
  from: string;
  to: string;
  subject: string;
  html: string;
  text: string;
  /** ISO 8601, UTC. */
  sentAt: string;
}

export interface MailSandbox {
  server: LoopbackServer;
  /** Newest first. */
  list(): Promise<SandboxMail[]>;
  close(): Promise<void>;
}

/** A mail box on loopback (spec 00, SANDBOX): POST /messages puts a mail in, GET /messages shows all. */
export async function startMailSandbox(options: { store: SandboxStore; now: () => Date; port?: number }): Promise<MailSandbox> {
  const state = new StoredState<{ nextId: number; mails: SandboxMail[] }>(options.store, 'mail', () => ({
    nextId: 1,
    mails: [],
  }));
  const list = async () => (await state.read()).mails.toReversed();

  const server = await startLoopbackServer(async (request) => {
    if (request.path !== '/messages') return jsonReply(404, { error: 'not_found' });
    if (request.method === 'GET') return jsonReply(200, await list());
    if (request.method !== 'POST') return jsonReply(405, { error: 'method_not_allowed' });
    const { from, to, subject, html, text } = jsonObject(request.body) ?? {};
    if (![from, to, subject, html, text].every((value) => typeof value === 'string'))
      return jsonReply(400, { error: 'invalid_mail' });
    const id = await state.update((current) => {
      const mail = { id: current.nextId++, from, to, subject, html, text, sentAt: options.now().toISOString() } as SandboxMail;
      current.mails = [...current.mails, mail].slice(-MAX_MAILS);
      return mail.id;
    });
    return jsonReply(200, { id });
  }, options.port);

  return { server, list, close: () => server.close() };
}
