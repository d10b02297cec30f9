import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { aJpeg, aPng, aWebp, decoded } from '../support/image-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { UploadForm } from '../support/upload-form.ts';

const PATH = '/cabinet/branding/logo';
const MAX_BYTES = 5 * 1024 * 1024;
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>';
const WRONG_TYPE = [400, 'Invalid file type. Allowed: PNG, JPEG, WebP, SVG'];
const WITH_LOGO = { name: 'Cabinet', logo_url: PATH, logo_letter: 'C', has_custom_logo: true };
const WITHOUT_LOGO = { ...WITH_LOGO, logo_url: null, has_custom_logo: false };

let t: TestApp;
let server: FastifyInstance;
let open: ApiClient;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  open = clientOf(server);
  admin = await adminClient(t.app, server, ['settings:edit']);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM branding_images');
  t.cache.clear();
});

const upload = (content: Buffer | string, type: string) => admin.post(PATH, new UploadForm(content, type));
const refusal = async (content: Buffer | string, type: string) => {
  const { status, body } = await upload(content, type);
  return [status, body.detail];
};
const stored = () => t.app.db.sql<{ contentType: string }>('SELECT content_type FROM branding_images');

describe('a logo', () => {
  it.each([
    ['image/png', aPng(3, 2), 'logo.png'],
    ['image/jpeg', aJpeg(3, 2), 'logo.jpg'],
    ['image/webp', aWebp(3, 2), 'logo.webp'],
  ])('of type %s is served as sent', async (type, bytes, name) => {
    const reply = await upload(bytes, type);
    expect([reply.status, reply.body]).toEqual([200, WITH_LOGO]);
    const served = await open.get(PATH);
    expect(served.status).toBe(200);
    expect(served.bytes.equals(bytes)).toBe(true);
    expect(served.headers).toMatchObject({
      'content-type': type,
      'content-disposition': `inline; filename="${name}"`,
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
      'last-modified': t.clock.now().toUTCString(),
    });
    expect((await open.get('/cabinet/branding')).body).toEqual(WITH_LOGO);
  });

  it('may be declared as image/jpg', async () => {
    expect((await upload(aJpeg(3, 2), 'image/jpg')).status).toBe(200);
    expect((await open.get(PATH)).headers['content-type']).toBe('image/jpeg');
  });

  it('is replaced, and deleted any number of times', async () => {
    await upload(aPng(3, 2), 'image/png');
    const first = await open.get(PATH);
    await upload(aWebp(3, 2), 'image/webp');
    const second = await open.get(PATH);
    expect(second.headers['content-type']).toBe('image/webp');
    expect(second.headers.etag).not.toBe(first.headers.etag);
    expect(await stored()).toEqual([{ contentType: 'image/webp' }]);
    for (const _time of [1, 2]) {
      const reply = await admin.delete(PATH);
      expect([reply.status, reply.body]).toEqual([200, WITHOUT_LOGO]);
    }
    const missing = await open.get(PATH);
    expect([missing.status, missing.body.detail]).toEqual([404, 'No custom logo set']);
  });

  it('is not sent again to a client that has it', async () => {
    await upload(aPng(3, 2), 'image/png');
    const { headers } = await open.get(PATH);
    const again = await open.get(PATH, { headers: { 'if-none-match': String(headers.etag) } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers).toMatchObject({ etag: headers.etag, 'cache-control': 'public, max-age=3600' });
    await upload(aPng(2, 3), 'image/png');
    expect((await open.get(PATH, { headers: { 'if-none-match': String(headers.etag) } })).status).toBe(200);
  });
});

// Invariant 7 of spec 05 section 16, and the hazards of section 14.
describe('an SVG logo', () => {
  it('is stored without anything active and never served as a document', async () => {
    const evil = `<svg onload="alert(1)" xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><circle r="1"/><a href="javascript:x"/></svg>`;
    expect((await upload(evil, 'image/svg+xml')).status).toBe(200);
    const { text, headers } = await open.get(PATH);
    expect(text).toBe(SVG);
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-disposition': 'attachment; filename="logo.svg"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^default-src 'none';.*; sandbox$/),
    });
  });

  it('that draws nothing harmful stays byte for byte', async () => {
    await upload(SVG, 'image/svg+xml');
    expect((await open.get(PATH)).text).toBe(SVG);
  });
});

describe('what is refused', () => {
  it.each([
    ['a page that calls itself a PNG', '<html><script>alert(1)</script></html>', 'image/png'],
    ['an SVG image that calls itself a PNG', SVG, 'image/png'],
    ['a PNG that calls itself an SVG image', aPng(1, 1), 'image/svg+xml'],
    ['a PNG that calls itself a JPEG', aPng(1, 1), 'image/jpeg'],
    ['a page that calls itself an SVG image', '<html></html>', 'image/svg+xml'],
    ['a GIF', 'GIF89a', 'image/gif'],
    ['a page', SVG, 'text/html'],
    ['a type of the prototype', SVG, 'constructor'],
    ['an empty file', '', 'image/png'],
    ['an empty SVG image', '', 'image/svg+xml'],
    ['the beginning of a PNG', aPng(1, 1).subarray(0, 20), 'image/png'],
    ['a large PNG without pixels', aPng(2000, 2000, { isHollow: true }), 'image/png'],
  ])('%s', async (_name, content, type) => {
    expect(await refusal(content as Buffer, type)).toEqual(WRONG_TYPE);
    expect(await stored()).toEqual([]);
  });

  it('a file beyond 5 MB, after its type was looked at', async () => {
    const full = Buffer.concat([aPng(3, 2), Buffer.alloc(MAX_BYTES - aPng(3, 2).length)]);
    expect((await upload(full, 'image/png')).status).toBe(200);
    const tooLarge = [400, 'File too large. Maximum size: 5MB'];
    expect(await refusal(Buffer.concat([full, Buffer.alloc(1)]), 'image/png')).toEqual(tooLarge);
    expect(await refusal(Buffer.concat([full, full]), 'image/png')).toEqual(tooLarge);
    expect(await refusal(Buffer.concat([full, full]), 'text/plain')).toEqual(WRONG_TYPE);
  });

  it('an image whose pixels would take gigabytes, before it is decoded', async () => {
    const bomb = aPng(30_000, 30_000, { isHollow: true });
    expect(await refusal(bomb, 'image/png')).toEqual([400, 'Image dimensions too large. Maximum: 4096x4096 pixels']);
    expect(await refusal(aPng(1_000_000, 17, { isHollow: true }), 'image/png')).toEqual([
      400,
      'Image dimensions too large. Maximum: 4096x4096 pixels',
    ]);
  });

  it('a large animation, of which one picture would be left', async () => {
    expect((await upload(aPng(20, 20, { isAnimated: true }), 'image/png')).status).toBe(200);
    expect(await refusal(aPng(1025, 1, { isAnimated: true }), 'image/png')).toEqual([
      400,
      'Animated image too large. Maximum: 1024x1024 pixels',
    ]);
  });

  it('a form without the file, and another body', async () => {
    const other = await admin.post(PATH, new UploadForm(aPng(1, 1), 'image/png', { field: 'logo' }));
    expect(other.status).toBe(422);
    expect(other.body.detail).toMatchObject([{ type: 'missing', loc: ['body', 'file'] }]);
    expect((await admin.post(PATH, { file: 'x' })).status).toBe(415);
    expect((await admin.post(PATH)).status).toBe(422);
  });

  it('an upload of anybody else, unread', async () => {
    expect((await open.post(PATH, new UploadForm(aPng(1, 1), 'image/png'))).status).toBe(401);
    const reader = await adminClient(t.app, server, ['settings:read']);
    expect((await reader.post(PATH, new UploadForm(aPng(1, 1), 'image/png'))).status).toBe(403);
  });
});

it('a large logo is scaled down to 1024 pixels', async () => {
  for (const [type, bytes] of [['image/png', aPng(2048, 1024)] as const, ['image/jpeg', aJpeg(1100, 550)] as const]) {
    expect((await upload(bytes, type)).status).toBe(200);
    const served = await open.get(PATH);
    expect(served.headers['content-type']).toBe(type);
    expect(decoded(served.bytes)).toMatchObject({ width: 1024, height: 512 });
  }
});

it('the audit log records the upload without its bytes', async () => {
  await upload(aPng(3, 2), 'image/png');
  const [row] = await t.app.db.sql<{ details: unknown }>(
    'SELECT details FROM admin_audit_log WHERE user_id = $1::int ORDER BY id DESC LIMIT 1',
    [admin.user.id],
  );
  expect(row!.details).toMatchObject({
    before: { hasCustomLogo: false },
    after: { hasCustomLogo: true, type: 'image/png', bytes: aPng(3, 2).length },
  });
  expect(JSON.stringify(row!.details).length).toBeLessThan(600);
});
