-- The reports of the administrators count tickets by their creation, and users whose subscription has no squads.
CREATE INDEX "tickets_created_at_idx" ON "tickets"("created_at");
CREATE INDEX subscriptions_without_squads ON subscriptions (id) WHERE connected_squads = '[]'::jsonb;

-- The purge of unused uploads looks up who refers to a file, and which stored contents have a row.
CREATE INDEX "media_files_storage_key_idx" ON "media_files"("storage_key");
CREATE INDEX "ticket_messages_media_file_id_idx" ON "ticket_messages"("media_file_id");
CREATE INDEX "broadcast_history_media_file_id_idx" ON "broadcast_history"("media_file_id");
CREATE INDEX "pinned_messages_media_file_id_idx" ON "pinned_messages"("media_file_id");
