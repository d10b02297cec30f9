/** Words of PostgreSQL that the SQL of src uses; a new one is added here (the manual, appendix C, and chapters 8 and 9). */
const KEYWORDS = `all alter and any array as asc at between by case conflict cross current_user database delete desc distinct do else end epoch exists false
  first for from full group having in inner insert interval into is join last lateral left like limit locked materialized next no not
  nothing null nulls of offset on only or order ordinality over partition recursive returning right role row rows select set share skip system
  scroll table tablesample then true truncate union update using values when where with within zone ilike
  backup_rows batch collate part place restored_jobs close cursor declare fetch overriding value`;

const TYPES = `bigint boolean date float8 int integer jsonb numeric real text time timestamptz uuid`;

const FUNCTIONS = `abs array_agg array_length array_remove convert_to avg bool_and bool_or cardinality ceil clock_timestamp coalesce concat concat_ws count
  current_database current_setting date_trunc extract floor format generate_series greatest hashtext json_agg json_build_object jsonb_agg
  jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_object_agg jsonb_object_keys
  btrim jsonb_each_text split_part starts_with jsonb_set jsonb_to_recordset jsonb_typeof least left length lower ltrim max md5 min mod now nullif num_nonnulls
  pg_advisory_lock pg_advisory_unlock pg_advisory_xact_lock pg_current_snapshot pg_current_wal_flush_lsn pg_current_xact_id pg_control_system pg_is_in_recovery pg_get_serial_sequence pg_last_wal_replay_lsn pg_relation_size pg_walfile_name pg_notify
  pg_sequence_last_value pg_snapshot_xmax pg_snapshot_xmin pg_stat_force_next_flush position power random right round row_number row_to_json set_config sha256
  decode encode isfinite lpad to_hex json_array_elements json_to_record json_to_recordset pg_try_advisory_lock setval translate
  string_agg strpos substr sum to_char to_json to_jsonb to_regclass trim unnest upper filter`;

const listOf = (text: string): Set<string> => new Set(text.split(/\s+/));

export const SQL_WORDS: ReadonlySet<string> = new Set([...listOf(KEYWORDS), ...listOf(TYPES), 'filter']);
export const SQL_FUNCTIONS: ReadonlySet<string> = listOf(FUNCTIONS);
