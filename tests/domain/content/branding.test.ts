import { beforeEach, expect, test } from 'vitest';
import { DatabaseSharedCache } from '../../../src/core/cache/shared-cache.ts';
import {
  changeColors,
  changeName,
  readBranding,
  readEmailAuth,
  readMessengerWidget,
  viewBranding,
} from '../../../src/domain/content/branding/branding.ts';
import { readLogo, removeLogo, replaceLogo } from '../../../src/domain/content/branding/logo.ts';
import { eventually } from '../../support/eventually.ts';
import { aPng } from '../../support/image-samples.ts';
import { recordingApp } from '../../support/sent-statements.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let one: TestApp;
let other: TestApp;
/** Two instances on one database, each with a cache of its own. */
beforeEach(async () => {
  one = await testApp();
  other = await testApp({ clock: one.clock });
  await one.app.db.sql("DELETE FROM system_settings WHERE key LIKE 'CABINET\\_%'");
  await one.app.db.sql('DELETE FROM branding_images');
});

const png = (width = 1) => ({
  kind: 'upload' as const,
  filename: 'x.png',
  contentType: 'image/png',
  content: aPng(width, 1),
  isTruncated: false,
});

test('all pages of an instance read the database once: one statement for all values, one for the existence of a logo', async () => {
  // A cache that gets no notices of what an earlier test changed.
  const { app, sent } = recordingApp({ ...one.app, cache: new DatabaseSharedCache() });
  for (let page = 0; page < 20; page += 1) {
    viewBranding(app, await readBranding(app));
    readEmailAuth(app);
    readMessengerWidget(app);
  }
  await Promise.all(Array.from({ length: 20 }, () => readBranding(app)));
  expect(sent).toEqual(['prisma.systemSetting', 'prisma.brandingImage']);
});

test('the logo is read once, also when there is none and when many ask at once', async () => {
  const { app, sent } = recordingApp(one.app);
  for (let page = 0; page < 3; page += 1) await expect(readLogo(app)).rejects.toMatchObject({ status: 404 });
  expect(sent).toHaveLength(1);
  await replaceLogo(one.app, png());
  sent.length = 0;
  const logos = await Promise.all(Array.from({ length: 20 }, () => readLogo(app)));
  expect(sent).toHaveLength(1);
  expect(logos[0]!.content.equals(aPng(1, 1))).toBe(true);
  expect(new Set(logos.map((logo) => logo.etag)).size).toBe(1);
});

test('every instance shows a change, whoever had read before', async () => {
  expect((await readBranding(other.app)).name).toBeNull();
  await expect(readLogo(other.app)).rejects.toMatchObject({ status: 404 });
  await changeName(one.app, 'Shop');
  expect((await readBranding(one.app)).name).toBe('Shop');
  await eventually(async () => expect((await readBranding(other.app)).name).toBe('Shop'));
  await replaceLogo(one.app, png(2));
  await eventually(async () => expect((await readLogo(other.app)).content.equals(aPng(2, 1))).toBe(true));
  expect((await readLogo(other.app)).etag).toBe((await readLogo(one.app)).etag);
  await eventually(async () => expect((await readBranding(other.app)).hasCustomLogo).toBe(true));
  await removeLogo(other.app);
  await expect(readLogo(other.app)).rejects.toMatchObject({ status: 404 });
  await eventually(() => expect(readLogo(one.app)).rejects.toMatchObject({ status: 404 }));
});

test('a refused change leaves neither a value nor an event', async () => {
  const { app, sent } = recordingApp(one.app);
  await expect(changeColors(app, { accent: '#fff', error: 'red' })).rejects.toMatchObject({ status: 400 });
  expect(sent).not.toContain('COMMIT');
  const rows = await one.app.db.sql("SELECT key FROM system_settings WHERE key LIKE 'CABINET\\_%'");
  expect(rows).toEqual([]);
});

test('the table refuses what would be served as a page, and more than 5 MiB', async () => {
  // Raw SQL: the bytes of an image are in none of the rows that the service reads.
  const store = (type: string, bytes: number) =>
    one.app.db.sql(
      `INSERT INTO branding_images (name, content_type, content, updated_at)
       VALUES ('logo', $1, convert_to(repeat('x', $2::int), 'UTF8'), now()) RETURNING name`,
      [type, bytes],
    );
  await expect(store('text/html', 10)).rejects.toThrow(/branding_images_type_known/);
  await expect(store('image/png', 0)).rejects.toThrow(/branding_images_size/);
  await expect(store('image/png', 5 * 1024 * 1024 + 1)).rejects.toThrow(/branding_images_size/);
  await expect(store('image/png', 5 * 1024 * 1024)).resolves.toHaveLength(1);
});
