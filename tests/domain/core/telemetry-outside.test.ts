/** Traces through mail servers, object storages and the callbacks of providers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Requester } from '../../../packages/measures/src/demo/http.ts';
import { aPng } from '../../support/image-samples.ts';
import { attributeOf, pathTo, type ReceivedSpan, startTracedService, type TracedService } from '../../support/traced-service.ts';
import { type SmtpServer, startSmtpServer } from '../../unit/mail/smtp-server.ts';

const EMAIL = 'trillian@private.example';
const PASSWORD = 'correct horse 42';
const SMTP = { user: 'smtp-account', password: 'smtp-password-1' };
const BUCKET = 'bucket-of-files';
const PAGE = { 'x-sandbox-page': '1' };

let folder: string;
let storage: S3rver;
let smtp: SmtpServer;
let t: TracedService;
let stranger: Requester;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'traced-storage-'));
  storage = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: folder, configureBuckets: [{ name: BUCKET }] });
  const { port } = await storage.run();
  smtp = await startSmtpServer({ extensions: ['AUTH PLAIN'] });
  t = await startTracedService({
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(smtp.port),
    SMTP_USE_TLS: 'false',
    SMTP_FROM_EMAIL: 'shop@private.example',
    SMTP_USER: SMTP.user,
    SMTP_PASSWORD: SMTP.password,
    CABINET_URL: 'https://cabinet.private.example',
    MEDIA_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    MEDIA_S3_BUCKET: BUCKET,
    MEDIA_S3_PATH_STYLE: 'true',
    MEDIA_S3_ACCESS_KEY_ID: 'S3RVER',
    MEDIA_S3_SECRET_ACCESS_KEY: 'S3RVER',
  });
  stranger = createRequester(t.service.url);
}, 300_000);

afterAll(async () => {
  await t?.close();
  await smtp?.close();
  await storage?.close();
  await rm(folder, { recursive: true, force: true });
});

const attributesOf = (span: ReceivedSpan) => Object.fromEntries(span.attributes.map(({ key }) => [key, attributeOf(span, key)]));

// In this order: the last tests use what the first have done.
describe('with a collector', { shuffle: false }, () => {
  test('the mail of a registration is sent in the trace of its request', async () => {
    const register = '/cabinet/auth/email/register/standalone';
    const person = { email: EMAIL, password: PASSWORD, first_name: 'Trillian', language: 'en' };
    expect((await stranger.post(register, person)).status).toBe(200);
    const isSent = ({ name }: ReceivedSpan) => name === 'SEND mail';
    const trace = await t.traceOf(`POST ${register}`, (spans) => spans.some(isSent));
    expect(pathTo(trace.find(isSent), trace)).toEqual([`POST ${register}`, 'transaction', 'job mail.send', 'SEND mail']);
    expect(attributesOf(trace.find(isSent)!)).toEqual({ 'peer.service': 'mail', 'network.protocol.name': 'smtp' });
    expect(smtp.mails[0]?.to).toEqual([`<${EMAIL}>`]);
  });

  test('the upload of a file shows the call of the storage', async () => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(aPng(20, 20))], { type: 'image/png' }), 'private-name.png');
    const reply = await fetch(`${t.service.url}/upload`, { method: 'POST', headers: { 'x-api-key': t.token }, body: form });
    expect(reply.status).toBe(200);
    const isStored = ({ name }: ReceivedSpan) => name === 'PutObject media_storage';
    const trace = await t.traceOf('POST /upload', (spans) => spans.some(isStored));
    expect(pathTo(trace.find(isStored), trace)).toEqual(['POST /upload', 'PutObject media_storage']);
    expect(attributesOf(trace.find(isStored)!)).toEqual({
      'peer.service': 'media_storage',
      'rpc.system': 'aws-api',
      'rpc.method': 'PutObject',
    });
  });

  test('one trace from the callback of a provider through its job to the credit', async () => {
    // The link is in the mail, quoted-printable.
    const text = smtp.mails[0]!.data.replace(/=\r?\n/g, '').replaceAll('=3D', '=');
    const token = /token=([\w-]+)/.exec(text)?.[1];
    expect((await stranger.post('/cabinet/auth/email/verify', { token })).status).toBe(200);
    const { body: session } = await stranger.post('/cabinet/auth/email/login', { email: EMAIL, password: PASSWORD });
    const me = createRequester(t.service.url, { authorization: `Bearer ${session.access_token}` });
    const invoice = await me.post('/cabinet/balance/topup', { amount_kopeks: 50_000, payment_method: 'sandbox' });
    expect(invoice.status).toBe(200);
    const id = String(invoice.body.payment_url).split('/').at(-1)!;
    expect((await stranger.post(`/sandbox/api/payments/${id}/pay`, {}, PAGE)).status).toBe(200);
    await expect.poll(async () => (await me.get('/cabinet/balance')).body.balance_kopeks).toBe(50_000);

    const isJob = ({ name }: ReceivedSpan) => name === 'job payments.callback';
    const trace = await t.traceOf('job payments.callback', (spans) => spans.some(({ parentSpanId }) => !parentSpanId));
    const [callback, ...rest] = pathTo(trace.find(isJob), trace);
    expect(callback).toBe('POST /~callbacks/:method');
    expect(rest).toEqual(['job payments.callback']);
    const credit = trace.find((span) => String(attributeOf(span, 'db.query.text')).includes('credit_topup('));
    expect(pathTo(credit, trace).slice(0, 2)).toEqual([callback, 'job payments.callback']);
    // The payload that the job is given is what its schema says.
    const [row] = await t.service.app.db.sql<{ data: object }>("SELECT data FROM jobs.job WHERE name = 'payments.callback'");
    expect(Object.keys(row!.data).sort()).toEqual(['_traceparent', 'callbackId']);
  });

  test('neither addresses nor keys, names of files or buckets, or texts are exported', async () => {
    // Not by `toContain`, which would print everything.
    expect(t.received().includes('PutObject media_storage')).toBe(true);
    for (const secret of [
      EMAIL,
      'private.example',
      PASSWORD,
      'Trillian',
      SMTP.user,
      SMTP.password,
      BUCKET,
      'S3RVER',
      'private-name',
    ]) {
      expect(t.received().includes(secret), secret).toBe(false);
    }
  });
});
