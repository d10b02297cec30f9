-- Met by rows of the previous release: DO
-- Tables that grow for as long as the service runs become partitioned by ranges of their ids (spec 08 S9). Their rows stay in the table that has
-- them, which becomes the first partition; the second one begins 20 million ids later. `src/domain/ops/partitions.ts` makes the further ones.
-- The previous release goes on: the id alone is still unique, and no statement has to know of partitions.
CREATE SCHEMA partitions;

DO $$
DECLARE
  name text;
  item record;
  first_partition text;
  bound bigint;
  definitions text[];
BEGIN
  FOREACH name IN ARRAY ARRAY['admin_audit_log', 'button_click_logs', 'domain_events', 'ledger_entries', 'webhook_deliveries'] LOOP
    first_partition := format('partitions.%I', name || '_1');
    EXECUTE format('ALTER SEQUENCE public.%I OWNED BY NONE', name || '_id_seq');
    EXECUTE format('ALTER TABLE public.%I RENAME TO %I', name, name || '_1');
    EXECUTE format('ALTER TABLE public.%I SET SCHEMA partitions', name || '_1');

    -- The partitioned table has them, with the names of before; those of a schema sql topic are made again by it.
    definitions := ARRAY[]::text[];
    FOR item IN SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
      WHERE conrelid = first_partition::regclass AND contype = 'f' LOOP
      definitions := definitions || format('ALTER TABLE public.%I ADD CONSTRAINT %I %s', name, item.conname, item.definition);
    END LOOP;
    FOR item IN SELECT pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
      WHERE i.indrelid = first_partition::regclass AND NOT i.indisprimary LOOP
      definitions := definitions || replace(item.definition, ' ON ' || first_partition || ' ', format(' ON public.%I ', name));
    END LOOP;
    FOR item IN SELECT conname, conrelid::regclass AS referrer, pg_get_constraintdef(oid) AS definition FROM pg_constraint
      WHERE confrelid = first_partition::regclass AND contype = 'f' LOOP
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', item.referrer, item.conname);
      definitions := definitions || format('ALTER TABLE %s ADD CONSTRAINT %I %s', item.referrer, item.conname,
        replace(item.definition, 'REFERENCES ' || first_partition || '(', format('REFERENCES public.%I(', name)));
    END LOOP;
    FOR item IN SELECT tgname FROM pg_trigger WHERE tgrelid = first_partition::regclass AND NOT tgisinternal LOOP
      EXECUTE format('DROP TRIGGER %I ON %s', item.tgname, first_partition);
    END LOOP;
    FOR item IN SELECT conname FROM pg_constraint WHERE conrelid = first_partition::regclass AND NOT convalidated LOOP
      EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', first_partition, item.conname);
    END LOOP;

    EXECUTE format('SELECT coalesce(max(id), 0) + 20000000 FROM %s', first_partition) INTO bound;
    EXECUTE format('CREATE TABLE public.%I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (id)',
      name, first_partition);
    EXECUTE format('ALTER TABLE public.%I ADD CONSTRAINT %I PRIMARY KEY (id)', name, name || '_pkey');
    EXECUTE format('ALTER SEQUENCE public.%I OWNED BY public.%I.id', name || '_id_seq', name);
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO (%s)', name, first_partition, bound);
    EXECUTE format('CREATE TABLE partitions.%I PARTITION OF public.%I FOR VALUES FROM (%s) TO (MAXVALUE)', name || '_' || bound, name, bound);
    FOR i IN 1 .. cardinality(definitions) LOOP
      EXECUTE definitions[i];
    END LOOP;
  END LOOP;
END $$;
