-- Content of uploaded files is in a storage of this service; who may read a file depends on it (spec 05 section 10).
ALTER TABLE "media_files" ADD COLUMN     "is_private" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "messenger_file_id" VARCHAR(255),
ADD COLUMN     "storage_key" VARCHAR(64);

-- Files of before are in the messenger only. Those of tickets are private.
UPDATE media_files SET messenger_file_id = file_id, is_private = source = 'ticket';
-- Files of answers by API tokens were not recorded, so that no one could read them.
INSERT INTO media_files (file_id, media_type, source, messenger_file_id, is_private, created_at)
SELECT DISTINCT ON (media_file_id) media_file_id, media_type, 'ticket', media_file_id, true, created_at FROM ticket_messages
WHERE media_file_id IS NOT NULL ORDER BY media_file_id, id
ON CONFLICT (file_id) DO NOTHING;
