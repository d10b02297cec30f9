import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

const IMAGE = columns('BrandingImage', ['contentType', 'updatedAt']);

export type ImageType = RowOf<typeof IMAGE>['contentType'];
export type StoredImage = RowOf<typeof IMAGE> & { content: Uint8Array };

/**
 * Changes read what they change and may write several keys, of which no row may exist yet, so one lock until the end of the transaction
 * serialises them all.
 */
export async function lockBranding(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('content.branding'))::text AS locked");
}

export async function hasLogo(db: Db): Promise<boolean> {
  return (await db.prisma.brandingImage.count({ where: { name: 'logo' } })) > 0;
}

export async function findLogo(db: Db): Promise<StoredImage | null> {
  const [row] = await db.sql<StoredImage>(`SELECT ${IMAGE.of()}, content FROM branding_images WHERE name = 'logo'`);
  return row ?? null;
}

/** Replaces the logo. */
export async function upsertLogo(db: Db, image: { contentType: ImageType; content: Uint8Array }, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO branding_images (name, content_type, content, updated_at) VALUES ('logo', $1, $2::bytea, $3::timestamptz)
     ON CONFLICT (name) DO UPDATE SET content_type = excluded.content_type, content = excluded.content, updated_at = excluded.updated_at`,
    [image.contentType, image.content, now],
  );
}

export async function deleteLogo(db: Db): Promise<void> {
  await db.prisma.brandingImage.deleteMany({ where: { name: 'logo' } });
}
