-- CreateTable
CREATE TABLE "branding_images" (
    "name" VARCHAR(20) NOT NULL,
    "content_type" VARCHAR(20) NOT NULL,
    "content" BYTEA NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "branding_images_pkey" PRIMARY KEY ("name")
);

-- What the upload accepts; no other writer may store what would be served as a page or is larger than the cabinet expects.
ALTER TABLE branding_images
  ADD CONSTRAINT branding_images_name_known CHECK (name IN ('logo')),
  ADD CONSTRAINT branding_images_type_known CHECK (content_type IN ('image/png', 'image/jpeg', 'image/webp', 'image/svg+xml')),
  ADD CONSTRAINT branding_images_size CHECK (octet_length(content) BETWEEN 1 AND 5242880);
