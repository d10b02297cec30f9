-- Who may use the running system stays able to after a restore (spec 06 section 7). The transaction of a restore calls remember_access()
-- before it replaces the tables and restore_access() afterwards; the rows of before wait in temporary tables.

--- keeps tokens, roles, superadmins and second factors of the running system aside
CREATE OR REPLACE FUNCTION remember_access() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CREATE TEMP TABLE kept_tokens ON COMMIT DROP AS SELECT * FROM public.web_api_tokens;
  CREATE TEMP TABLE kept_roles ON COMMIT DROP AS SELECT * FROM public.admin_roles;
  -- Superadmins: roles of level 999.
  CREATE TEMP TABLE kept_admins ON COMMIT DROP AS
    SELECT DISTINCT ON (u.id, r.name) u.id AS old_id, u.messenger_id, u.email, u.email_verified, u.auth_type, u.username, u.first_name,
      u.last_name, u.status, u.language, u.password_hash, r.name AS role, a.expires_at
    FROM public.user_roles a JOIN public.admin_roles r ON r.id = a.role_id JOIN public.users u ON u.id = a.user_id
    WHERE a.is_active AND r.level >= 999 AND (u.messenger_id IS NOT NULL OR u.email IS NOT NULL);
  CREATE TEMP TABLE kept_users ON COMMIT DROP AS SELECT id, created_at FROM public.users;
  CREATE TEMP TABLE kept_factors ON COMMIT DROP AS SELECT * FROM public.second_factors;
  CREATE TEMP TABLE kept_codes ON COMMIT DROP AS SELECT * FROM public.recovery_codes;
  -- Access tokens of these users are valid for some minutes, and the same ids may be other people afterwards.
  CREATE TEMP TABLE kept_sessions ON COMMIT DROP AS
    SELECT DISTINCT user_id FROM public.cabinet_refresh_tokens WHERE expires_at > now();
END $$;

-- Adds what remember_access() remembered and the restored tables do not have. With the triggers on, so that counters count it. A person is
-- known by the messenger id or, without one, by the e-mail address.
--- adds the tokens, roles and superadmins that were kept to the restored tables
CREATE OR REPLACE FUNCTION restore_access(p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- A token of the archive that was changed since keeps its later text and limits: a text that was rotated away stays invalid.
  UPDATE web_api_tokens t SET token_hash = k.token_hash, token_prefix = k.token_prefix, previous_hash = k.previous_hash,
      previous_until = k.previous_until, scopes = k.scopes, allowed_addresses = k.allowed_addresses, expires_at = k.expires_at
    FROM kept_tokens k WHERE k.id = t.id AND k.created_at = t.created_at;
  INSERT INTO web_api_tokens
    SELECT (jsonb_populate_record(NULL::web_api_tokens,
      to_jsonb(k) || jsonb_build_object('id', nextval(pg_get_serial_sequence('web_api_tokens', 'id'))))).*
    FROM kept_tokens k WHERE NOT EXISTS (SELECT 1 FROM web_api_tokens t WHERE t.token_hash = k.token_hash) ORDER BY k.id;
  INSERT INTO admin_roles
    SELECT (jsonb_populate_record(NULL::admin_roles,
      to_jsonb(k) || jsonb_build_object('id', nextval(pg_get_serial_sequence('admin_roles', 'id')), 'created_by', NULL))).*
    FROM kept_roles k WHERE NOT EXISTS (SELECT 1 FROM admin_roles r WHERE r.name = k.name) ORDER BY k.id;
  -- The address is the only proof of such a person: nobody else who has it in the archive may sign in with it.
  UPDATE users u SET password_hash = k.password_hash, email_verified = k.email_verified, status = k.status
    FROM kept_admins k WHERE k.messenger_id IS NULL AND u.email = k.email;
  INSERT INTO users (messenger_id, email, email_verified, auth_type, username, first_name, last_name, status, language, password_hash,
    referral_code, promo_group_id, created_at, updated_at)
    SELECT DISTINCT ON (k.old_id) k.messenger_id,
      CASE WHEN EXISTS (SELECT 1 FROM users t WHERE t.email = k.email) THEN NULL ELSE k.email END, k.email_verified, k.auth_type, k.username,
      k.first_name, k.last_name, k.status, k.language, k.password_hash, 'kept' || substr(md5(random()::text), 1, 12),
      (SELECT g.id FROM promo_groups g WHERE g.is_default LIMIT 1), p_now, p_now
    FROM kept_admins k
    WHERE NOT EXISTS (SELECT 1 FROM users u WHERE
      CASE WHEN k.messenger_id IS NULL THEN u.email = k.email ELSE u.messenger_id = k.messenger_id END);
  INSERT INTO user_roles (user_id, role_id, assigned_at, expires_at)
    SELECT DISTINCT ON (u.id, r.id) u.id, r.id, p_now, k.expires_at
    FROM kept_admins k
    JOIN users u ON CASE WHEN k.messenger_id IS NULL THEN u.email = k.email ELSE u.messenger_id = k.messenger_id END
    JOIN admin_roles r ON r.name = k.role
    ON CONFLICT (user_id, role_id) DO UPDATE SET is_active = true, expires_at = EXCLUDED.expires_at;
  -- Second factors are those of the running system: one that was removed, or a code that was used, does not count again, and one that was
  -- added since does. Of people whom only the archive knows, as on a new server, they are the archive's.
  UPDATE admin_roles r SET requires_second_factor = k.requires_second_factor FROM kept_roles k WHERE k.name = r.name;
  CREATE TEMP TABLE kept_people ON COMMIT DROP AS
    SELECT u.id AS old_id, u.id AS new_id FROM users u JOIN kept_users k ON k.id = u.id AND k.created_at = u.created_at
    WHERE EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = u.id) OR EXISTS (SELECT 1 FROM kept_factors f WHERE f.user_id = u.id)
    UNION
    SELECT k.old_id, u.id FROM kept_admins k
    JOIN users u ON CASE WHEN k.messenger_id IS NULL THEN u.email = k.email ELSE u.messenger_id = k.messenger_id END;
  DELETE FROM recovery_codes WHERE user_id IN (SELECT p.new_id FROM kept_people p);
  DELETE FROM second_factors WHERE user_id IN (SELECT p.new_id FROM kept_people p)
    OR credential_id IN (SELECT k.credential_id FROM kept_factors k);
  INSERT INTO second_factors
    SELECT (jsonb_populate_record(NULL::second_factors, to_jsonb(k) || jsonb_build_object(
      'id', nextval(pg_get_serial_sequence('second_factors', 'id')), 'user_id', p.new_id))).*
    FROM kept_factors k JOIN kept_people p ON p.old_id = k.user_id ORDER BY k.id;
  INSERT INTO recovery_codes
    SELECT (jsonb_populate_record(NULL::recovery_codes, to_jsonb(k) || jsonb_build_object(
      'id', nextval(pg_get_serial_sequence('recovery_codes', 'id')), 'user_id', p.new_id))).*
    FROM kept_codes k JOIN kept_people p ON p.old_id = k.user_id ORDER BY k.id;
  UPDATE users SET sessions_ended_at = p_now WHERE id IN (SELECT s.user_id FROM kept_sessions s);
END $$;
