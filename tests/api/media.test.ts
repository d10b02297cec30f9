import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MessengerError } from '../../src/domain/messaging/ports.ts';
import { multipartForm } from '../../src/integrations/messenger/bot-api-client.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiReply, clientOf, testServer, tokenClient } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { aJpeg, anMp4, aPdf, aPng } from '../support/media-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { workerSandbox } from '../support/test-sandbox.ts';

let t: TestApp;
let server: FastifyInstance;
let api: Awaited<ReturnType<typeof tokenClient>>;
let user: ActorClient;

const MINUTE = 60_000;
const CHAT = -100_700_000_001;

beforeAll(async () => {
  t = await testApp({ environment: { MEDIA_FILES_PER_USER: '3', MEDIA_MEGABYTES_PER_USER: '15' } });
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());
beforeEach(async () => {
  user = await userClient(t.app, server, { language: 'en' });
});

interface Form {
  content?: Buffer;
  name?: string;
  type?: string;
  fields?: Record<string, string>;
  headers?: Record<string, string>;
}

const refusal = (status: number, detail: string) => ({ status, body: { detail } });

type Server = Awaited<ReturnType<typeof testServer>>;
const posted = (to: Server, url: string, payload: Buffer, headers: Record<string, string>) =>
  to.inject({ method: 'POST', url, payload, headers });

async function upload(path: string, credential: Record<string, string>, form: Form): Promise<ApiReply> {
  const { content = aPng(), name = 'photo.png', type = 'image/png', fields = {}, headers = {} } = form;
  const { contentType, body } = multipartForm(fields, { field: 'file', name, type, content });
  const reply = await posted(server, path, Buffer.from(body), { ...credential, 'content-type': contentType, ...headers });
  return { status: reply.statusCode, body: reply.json(), headers: reply.headers, text: reply.body, bytes: reply.rawPayload };
}

const asUser = (client: ActorClient, form: Form = {}) =>
  upload('/cabinet/media/upload', { authorization: `Bearer ${client.accessToken}` }, form);
const asToken = (form: Form = {}) => upload('/upload', { 'x-api-key': api.token }, form);

/** The bytes of a download. */
async function get(url: string, headers: Record<string, string> = {}) {
  const reply = await server.inject({ method: 'GET', url, headers });
  return { status: reply.statusCode, bytes: reply.rawPayload, headers: reply.headers, text: reply.body };
}

/** What both areas answer for an id that is none. */
const NOT_FOUND = { status: 404, text: '{"detail":"Media file not found"}' };
const pathOf = (url: string) => new URL(url).pathname;

describe('media', () => {
  test('stores a file in our own storage and returns it unchanged, in place and with nothing active', async () => {
    const photo = aJpeg();
    const reply = await asToken({ content: photo, name: '../x.html', type: 'text/html', fields: { media_type: ' PHOTO ' } });
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        media_type: 'photo',
        file_id: expect.stringMatching(/^file_[\w-]{32}$/),
        file_unique_id: null,
        media_url: `http://localhost:80/media/${reply.body.file_id}`,
      },
    ]);
    const found = await get(pathOf(reply.body.media_url), { 'x-api-key': api.token });
    expect([found.status, found.bytes]).toEqual([200, photo]);
    expect(found.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'content-disposition': 'inline; filename="x.jpg"',
      'content-length': String(photo.length),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    });
    expect(found.headers).not.toHaveProperty('cache-control');
  });

  test('a document is a download, whatever its name and declared type say', async () => {
    const { body } = await asToken({ content: aPdf(), name: 'page.html', type: 'text/html' });
    const found = await get(`/media/${body.file_id}`, { 'x-api-key': api.token });
    expect(found.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': 'attachment; filename="page.pdf"',
    });
    expect((await get(`/media/${body.file_id}`)).status).toBe(401);
  });

  test('the address names the host of the request, of a trusted proxy the original one', async () => {
    const seen = async (headers: Record<string, string>) => new URL((await asToken({ headers })).body.media_url).origin;
    expect(await seen({ host: 'api.example.com' })).toBe('http://api.example.com');
    expect(await seen({ host: 'api.example.com', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' })).toBe(
      'http://api.example.com',
    );
    expect(await seen({ host: 'a.example/"><script>' })).not.toContain('script');
    const proxied = await testApp({ environment: { TRUSTED_PROXIES: '127.0.0.1' } });
    const behind = await testServer(proxied.app);
    const { contentType, body } = multipartForm({}, { field: 'file', name: 'a.png', type: 'image/png', content: aPng() });
    const reply = await posted(behind, '/upload', Buffer.from(body), {
      'x-api-key': api.token,
      'content-type': contentType,
      host: '10.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'api.example.com',
    });
    expect(new URL(reply.json().media_url).origin).toBe('https://api.example.com');
    await behind.close();
  });

  test('refuses in the order kind, empty, content', async () => {
    expect(await asToken({ fields: { media_type: 'audio' }, content: Buffer.alloc(0) })).toMatchObject(
      refusal(400, 'Unsupported media type'),
    );
    expect(await asToken({ content: Buffer.alloc(0) })).toMatchObject(refusal(400, 'File is empty'));
    expect(await asToken({ fields: { media_type: 'photo' }, content: aPdf() })).toMatchObject(
      refusal(400, 'Invalid image type. Allowed: JPEG, PNG, GIF, WebP'),
    );
    const { contentType, body } = multipartForm(
      { media_type: 'photo' },
      { field: 'other', name: 'a', type: 'a/b', content: 'x' },
    );
    const missing = await posted(server, '/upload', Buffer.from(body), { 'x-api-key': api.token, 'content-type': contentType });
    expect([missing.statusCode, missing.json().detail[0]]).toMatchObject([422, { loc: ['body', 'file'], type: 'missing' }]);
  });

  test('spec 05 section 10, hazard c: reading stops at the limit: 413 of the Web API, 400 in the cabinet', async () => {
    const large = Buffer.concat([aPng(), Buffer.alloc(50 * 1024 * 1024)]);
    expect(await asToken({ content: large })).toMatchObject(refusal(413, 'File too large. Maximum size: 50MB'));
    expect(await asUser(user, { content: large.subarray(0, 10 * 1024 * 1024 + 1) })).toMatchObject(
      refusal(400, 'File too large. Maximum size: 10MB'),
    );
  });

  test('a form with two files, or with too many fields, is refused with what it may have', async () => {
    const refused = { status: 413, body: { detail: 'The form has too many parts. Maximum: one file and 50 fields' } };
    const { contentType, body } = multipartForm({}, { field: 'file', name: 'a.png', type: 'image/png', content: aPng() });
    const boundary = contentType.split('boundary=')[1]!;
    const one = Buffer.from(body);
    const withoutEnd = one.subarray(0, one.length - `--${boundary}--\r\n`.length);
    const reply = await posted(server, '/upload', Buffer.concat([withoutEnd, one]), {
      'x-api-key': api.token,
      'content-type': contentType,
    });
    expect({ status: reply.statusCode, body: reply.json() }).toEqual(refused);
    const fields = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`field${index}`, 'x']));
    expect(await asToken({ fields })).toMatchObject(refused);
  });

  test('spec 05 section 10, hazards a and f: an id that was not issued is unknown, also where the messenger has such a file', async () => {
    const backup = { name: 'backup.sql', contentType: 'text/plain', bytes: Buffer.from('secret') };
    const { fileId } = await t.app.ports.messenger.sendFile(CHAT, 'document', backup, '');
    expect(await t.app.ports.messenger.downloadFile(fileId!)).toMatchObject({ bytes: backup.bytes });
    expect(await get(`/media/${fileId}`, { 'x-api-key': api.token })).toMatchObject(NOT_FOUND);
    expect(await get(`/cabinet/media/${fileId}`)).toMatchObject(NOT_FOUND);
    expect(await get('/media/nothing', { 'x-api-key': api.token })).toMatchObject(NOT_FOUND);
    expect(await get('/cabinet/media/a.b.c')).toMatchObject(NOT_FOUND);
  });

  test('a file that only the messenger has is fetched from it, or 502 when it is away and 404 when it has lost it', async () => {
    const photo = { name: 'p.png', contentType: 'image/png', bytes: aPng() };
    const { fileId } = await t.app.ports.messenger.sendFile(CHAT, 'photo', photo, '');
    const received = (id: string) =>
      storeRow(t.app, 'MediaFile', { fileId: id, mediaType: 'photo', source: 'ticket', messengerFileId: id });
    await received(fileId!);
    const found = await get(`/media/${fileId}`, { 'x-api-key': api.token });
    expect([found.status, found.bytes, found.headers['content-type']]).toEqual([200, photo.bytes, 'image/png']);
    const lost = `AgACAgIAAxkB${unique()}`;
    await received(lost);
    expect(await get(`/media/${lost}`, { 'x-api-key': api.token })).toMatchObject(NOT_FOUND);
    const { messenger } = t.app.ports;
    const { downloadFile } = messenger;
    messenger.downloadFile = () => Promise.reject(new MessengerError({ kind: 'unavailable' }, 'away'));
    expect(await get(`/media/${fileId}`, { 'x-api-key': api.token })).toMatchObject({
      status: 502,
      text: '{"detail":"Failed to download media"}',
    });
    messenger.downloadFile = downloadFile;
  });

  test('what is in the storage is looked at again: a changed file is nothing that a browser shows', async () => {
    const { body } = await asToken({ content: aPng() });
    const [row] = await t.app.db.sql<{ storageKey: string }>('SELECT storage_key FROM media_files WHERE file_id = $1', [
      body.file_id,
    ]);
    const path = join(t.app.env.dataDir, 'media', row!.storageKey.slice(0, 2), row!.storageKey);
    expect(await readFile(path)).toEqual(aPng());
    await writeFile(path, '<html><script>alert(1)</script>');
    expect((await get(`/media/${body.file_id}`, { 'x-api-key': api.token })).headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="photo.bin"',
    });
  });

  test('the storage is away: 503, and nothing was recorded', async () => {
    const { mediaStore } = t.app.ports;
    const { put } = mediaStore;
    const count = async () => (await t.app.db.sql<{ n: number }>('SELECT count(*)::int AS n FROM media_files'))[0]!.n;
    const before = await count();
    mediaStore.put = () => Promise.reject(new Error('no space'));
    expect(await asToken()).toMatchObject(refusal(503, 'Failed to upload media'));
    mediaStore.put = put;
    expect(await count()).toBe(before);
  });
});

describe('media with a chat of the administrators', () => {
  let chat: TestApp;
  let chatServer: FastifyInstance;
  beforeAll(async () => {
    chat = await testApp({ environment: { ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT) } });
    chatServer = await testServer(chat.app);
  });
  afterAll(() => chatServer.close());

  const send = async (form: Form) => {
    const { content = aPng(), fields = {} } = form;
    const { contentType, body } = multipartForm(fields, { field: 'file', name: 'photo.png', type: 'image/png', content });
    const headers = { 'x-api-key': api.token, 'content-type': contentType };
    return (await chatServer.inject({ method: 'POST', url: '/upload', payload: Buffer.from(body), headers })).json();
  };

  test('the file is shown there with its caption, and has the id of the messenger', async () => {
    const answer = await send({ fields: { media_type: 'photo', caption: '<b>New</b>' } });
    expect(answer).toMatchObject({ file_id: expect.stringMatching(/^AgAC/), file_unique_id: expect.stringMatching(/^AQAD/) });
    const { servers } = await workerSandbox();
    const [message] = await servers.messenger.messages();
    expect(message).toMatchObject({ chatId: CHAT, text: '<b>New</b>', photo: answer.file_id });
    const headers = { 'x-api-key': api.token };
    expect((await chatServer.inject({ method: 'GET', url: `/media/${answer.file_id}`, headers })).rawPayload).toEqual(aPng());
  });

  test.each([
    ['photo', aPng()],
    ['video', anMp4()],
    ['document', aPdf()],
  ] as const)('a %s is sent as one', async (kind, content) => {
    const answer = await send({ content, fields: { media_type: kind } });
    const [message] = await (await workerSandbox()).servers.messenger.messages();
    expect(message).toMatchObject({ chatId: CHAT, [kind]: answer.file_id });
  });

  test('a messenger that refuses or is away costs no upload', async () => {
    const { messenger } = chat.app.ports;
    const { sendFile } = messenger;
    for (const failure of [{ kind: 'rejected' }, { kind: 'unavailable' }] as const) {
      messenger.sendFile = () => Promise.reject(new MessengerError(failure, 'no'));
      expect(await send({})).toMatchObject({ file_id: expect.stringMatching(/^file_/), file_unique_id: null });
    }
    messenger.sendFile = sendFile;
  });
});

describe('Cabinet Media', () => {
  test('a private file: by its signed link for anyone, by its plain id for its owner and administrators only', async () => {
    const { status, body } = await asUser(user);
    expect([status, body]).toEqual([
      200,
      {
        media_type: 'photo',
        file_id: expect.stringMatching(/^file_[\w-]{32}\.\w+\.[\w-]{22}$/),
        file_unique_id: null,
        media_url: `http://localhost:80/cabinet/media/${body.file_id}`,
      },
    ]);
    const signed = await get(pathOf(body.media_url));
    expect([signed.status, signed.bytes]).toEqual([200, aPng()]);
    expect(signed.headers['cache-control']).toMatch(/^private, max-age=\d{4}$/);
    const plain = `/cabinet/media/${body.file_id.split('.')[0]}`;
    const bearer = (client: ActorClient) => ({ authorization: `Bearer ${client.accessToken}` });
    const stranger = await userClient(t.app, server);
    const support = await adminClient(t.app, server, ['tickets:read']);
    const clerk = await adminClient(t.app, server, ['promocodes:read']);
    expect(await get(plain)).toMatchObject(NOT_FOUND);
    expect((await get(plain)).headers).not.toHaveProperty('cache-control');
    expect(await get(plain, { authorization: 'Bearer nonsense' })).toMatchObject(NOT_FOUND);
    expect(await get(plain, bearer(stranger))).toMatchObject(NOT_FOUND);
    expect(await get(plain, bearer(clerk))).toMatchObject(NOT_FOUND);
    expect((await get(plain, bearer(user))).status).toBe(200);
    expect((await get(plain, bearer(support))).status).toBe(200);
  });

  test('a link ends, and nothing of it can be changed', async () => {
    const { body } = await asUser(user);
    const [id, expiry, signature] = body.file_id.split('.');
    const later = (Number.parseInt(expiry, 36) + 600).toString(36);
    for (const forged of [`${id}.${later}.${signature}`, `${id}.${expiry}.${'A'.repeat(22)}`, `${id}x.${expiry}.${signature}`]) {
      expect(await get(`/cabinet/media/${forged}`), forged).toMatchObject(NOT_FOUND);
    }
    t.clock.advance(59 * MINUTE);
    expect((await get(`/cabinet/media/${body.file_id}`)).status).toBe(200);
    t.clock.advance(61 * MINUTE);
    expect(await get(`/cabinet/media/${body.file_id}`)).toMatchObject(NOT_FOUND);
  });

  test('a public file is kept by caches for a day', async () => {
    const { body } = await asToken();
    const found = await get(`/cabinet/media/${body.file_id}`);
    expect([found.status, found.headers['cache-control']]).toEqual([200, 'public, max-age=86400']);
  });

  test('spec 05 section 10, hazard e: the 21st upload of ten minutes is refused before it is read', async () => {
    const client = await userClient(t.app, server);
    for (let count = 0; count < 20; count++) expect((await asUser(client, { content: Buffer.alloc(0) })).status).toBe(400);
    const refused = await asUser(client, { content: Buffer.alloc(11 * 1024 * 1024) });
    expect([refused.status, refused.body]).toEqual([429, { detail: 'Too many requests' }]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await asUser(user)).status).toBe(200);
  });

  test('a user has so many files and megabytes, an administrator any number', async () => {
    const big = Buffer.concat([aPng(), Buffer.alloc(8 * 1024 * 1024)]);
    expect((await asUser(user, { content: big })).status).toBe(200);
    expect(await asUser(user, { content: big })).toMatchObject(refusal(400, 'Files too large. Maximum altogether: 15MB'));
    expect([(await asUser(user)).status, (await asUser(user)).status]).toEqual([200, 200]);
    expect(await asUser(user)).toMatchObject(refusal(400, 'Too many files. Maximum: 3'));
    const boss = await adminClient(t.app, server, ['broadcasts:create']);
    for (let count = 0; count < 4; count++) expect((await asUser(boss)).status).toBe(200);
  });

  test('refuses a file without a credential, and another kind', async () => {
    expect((await upload('/cabinet/media/upload', {}, {})).status).toBe(401);
    expect(await asUser(user, { fields: { media_type: 'sticker' } })).toMatchObject(
      refusal(400, 'Unsupported media type. Allowed: photo, video, document'),
    );
    expect((await clientOf(server).post('/cabinet/media/upload', {})).status).toBe(401);
  });
});

describe('files of tickets', () => {
  const open = (client: ActorClient, fileId: string) =>
    client.post('/cabinet/tickets', {
      title: 'No connection',
      message: 'The link stopped working.',
      media_type: 'photo',
      media_file_id: fileId,
    });

  test('the owner attaches it by its signed or plain id and gets links that work, while support and owner read the other side', async () => {
    const { body: file } = await asUser(user);
    const ticket = await open(user, file.file_id);
    expect(ticket.status, ticket.text).toBe(200);
    const shown = ticket.body.messages[0].media_file_id;
    expect(shown).toBe(file.file_id);
    expect((await get(`/cabinet/media/${shown}`)).bytes).toEqual(aPng());
    const [row] = await t.app.db.sql('SELECT media_file_id FROM ticket_messages WHERE ticket_id = $1::int', [ticket.body.id]);
    expect(row).toEqual({ mediaFileId: file.file_id.split('.')[0] });

    const support = await adminClient(t.app, server, ['tickets:read', 'tickets:reply']);
    const detail = await support.get(`/cabinet/admin/tickets/${ticket.body.id}`);
    expect((await get(`/cabinet/media/${detail.body.messages[0].media_file_id}`)).status).toBe(200);
    const answer = (await asUser(support, { content: aJpeg() })).body.file_id;
    const reply = await support.post(`/cabinet/admin/tickets/${ticket.body.id}/reply`, {
      message: 'See here',
      media_type: 'photo',
      media_file_id: answer,
    });
    expect(reply.status, reply.text).toBe(200);
    const list = await user.get('/cabinet/tickets');
    expect((await get(`/cabinet/media/${list.body.items[0].last_message.media_file_id}`)).bytes).toEqual(aJpeg());
    const web = await api.get(`/tickets/${ticket.body.id}`);
    expect(web.body.messages[0].media_file_id).toBe(file.file_id.split('.')[0]);
  });

  test('a private file of somebody else cannot be attached by its plain id', async () => {
    const { body } = await asUser(await userClient(t.app, server));
    expect((await open(user, body.file_id.split('.')[0])).status).toBe(422);
    expect((await open(user, `${body.file_id.split('.')[0]}.zzzzz.${'A'.repeat(22)}`)).status).toBe(422);
  });

  test('an id that a bot attached is known from then on', async () => {
    const { body: file } = await asUser(user);
    const ticket = (await open(user, file.file_id)).body;
    const photo = { name: 'p.png', contentType: 'image/png', bytes: aPng() };
    const { fileId } = await t.app.ports.messenger.sendFile(CHAT, 'photo', photo, '');
    const reply = await api.post(`/tickets/${ticket.id}/reply`, {
      message_text: 'Look',
      media_type: 'photo',
      media_file_id: fileId,
    });
    expect([reply.status, reply.body.message.media_file_id]).toEqual([200, fileId]);
    expect((await get(`/media/${fileId}`, { 'x-api-key': api.token })).status).toBe(200);
    const messages = (await user.get(`/cabinet/tickets/${ticket.id}`)).body.messages;
    expect((await get(`/cabinet/media/${messages.at(-1).media_file_id}`)).bytes).toEqual(aPng());
    expect(await get(`/cabinet/media/${fileId}`)).toMatchObject(NOT_FOUND);
  });
});
