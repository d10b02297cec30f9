-- Orders of the administrator's list of traffic: a page is read from an index, whatever the order is.
CREATE INDEX "user_stats_total_spent_kopeks_user_id_idx" ON "user_stats"("total_spent_kopeks", "user_id");
CREATE INDEX "subscriptions_start_date_user_id_idx" ON "subscriptions"("start_date", "user_id");
CREATE INDEX "subscriptions_end_date_user_id_idx" ON "subscriptions"("end_date", "user_id");
CREATE INDEX "subscriptions_device_limit_user_id_idx" ON "subscriptions"("device_limit", "user_id");
CREATE INDEX "subscriptions_traffic_limit_gb_user_id_idx" ON "subscriptions"("traffic_limit_gb", "user_id");
DROP INDEX "subscriptions_tariff_id_idx";
CREATE INDEX "subscriptions_tariff_id_user_id_idx" ON "subscriptions"("tariff_id", "user_id");
CREATE INDEX "panel_user_details_fill_id_devices_connected_user_id_idx" ON "panel_user_details"("fill_id", "devices_connected", "user_id");
CREATE INDEX panel_user_details_last_node ON panel_user_details (fill_id, lower(left(coalesce(last_node_name, ''), 200)), user_id);
CREATE INDEX users_full_name ON users (lower(coalesce(nullif(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, '')), ''),
  nullif(username, ''), 'ID' || messenger_id::text, nullif(split_part(email, '@', 1), ''), 'User' || id::text)), id)
  WHERE vpnpanel_uuid IS NOT NULL;
-- Whether a user is one of the panel, without a look at the row: deep pages and counts.
CREATE INDEX users_of_panel ON users (id) WHERE vpnpanel_uuid IS NOT NULL;
