/** `npm run check:migrations`: what the previous release cannot work with is refused, unless the migration says why it may. */
import { expect, test } from 'vitest';
import { refusedStatements } from '../../../scripts/checks/compatible-migrations.ts';

// Raw SQL of this file: the statements of migrations.
const BEFORE = {
  name: '0001_before',
  sql: `CREATE TABLE users (id serial PRIMARY KEY, name varchar(20) NOT NULL, note text, age integer DEFAULT 1);
    CREATE UNIQUE INDEX users_name_key ON users (name);
    CREATE INDEX users_age ON users (age);
    ALTER TABLE users ADD CONSTRAINT users_note_key UNIQUE (note), ADD CONSTRAINT users_age_positive CHECK (age > 0);`,
};

/** The refusals of a migration, without its name. */
async function refusalsOf(sql: string): Promise<string[]> {
  const refused = await refusedStatements([BEFORE, { name: '0002_next', sql }], '0002_next', new Set(['0.1.0']));
  return refused.map((line) => line.replace('0002_next: ', ''));
}

test.each([
  [
    'a new table with all its rules',
    'CREATE TABLE gifts (id int PRIMARY KEY, n int NOT NULL CHECK (n > 0)); CREATE UNIQUE INDEX g ON gifts (n)',
  ],
  [
    'a rule of a table that the migration has made',
    'CREATE TABLE gifts (n int); ALTER TABLE gifts ADD CONSTRAINT g CHECK (n > 0)',
  ],
  ['a column without a rule', 'ALTER TABLE users ADD COLUMN city text'],
  ['a column with a default', 'ALTER TABLE users ADD COLUMN is_new boolean NOT NULL DEFAULT false'],
  [
    'a rule for new columns alone',
    'ALTER TABLE users ADD COLUMN a int, ADD COLUMN b int; ALTER TABLE users ADD CONSTRAINT ab CHECK (a < b)',
  ],
  [
    'a reference in a new column',
    'ALTER TABLE users ADD COLUMN by int; ALTER TABLE users ADD CONSTRAINT u FOREIGN KEY (by) REFERENCES users',
  ],
  [
    'a unique key of a new column that may be empty',
    'ALTER TABLE users ADD COLUMN code text; CREATE UNIQUE INDEX c ON users (code)',
  ],
  ['a unique key of a new column that is drawn', 'ALTER TABLE users ADD COLUMN c uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE'],
  ['a longer text', 'ALTER TABLE users ALTER COLUMN name TYPE varchar(30)'],
  ['a text without a limit', 'ALTER TABLE users ALTER COLUMN name TYPE text'],
  ['a column that may be empty', 'ALTER TABLE users ALTER COLUMN name DROP NOT NULL'],
  ['a rule that goes', 'ALTER TABLE users DROP CONSTRAINT users_age_positive'],
  ['an index that comes and one that goes', 'CREATE INDEX users_note ON users (note); DROP INDEX users_age'],
  ['rows', "INSERT INTO users (name) VALUES ('a'); UPDATE users SET age = 2; DELETE FROM users WHERE age = 3"],
])('accepts %s', async (_what, sql) => {
  expect(await refusalsOf(sql)).toEqual([]);
});

test.each([
  ['DROP TABLE users', 'users: is dropped'],
  ['ALTER TABLE users DROP COLUMN note', 'users.note: is dropped'],
  ['DROP FUNCTION price(integer)', 'price: is dropped'],
  ['ALTER TABLE users RENAME TO people', 'users: is renamed'],
  ['ALTER TABLE users RENAME COLUMN note TO remark', 'users.note: is renamed'],
  ['ALTER TABLE users ALTER COLUMN name TYPE varchar(10)', 'users.name: is varchar(20) and becomes varchar(10)'],
  ['ALTER TABLE users ALTER COLUMN note TYPE varchar(10)', 'users.note: is text and becomes varchar(10)'],
  ['ALTER TABLE users ALTER COLUMN age TYPE bigint', 'users.age: is int4 and becomes int8'],
  ['ALTER TABLE users ALTER COLUMN age DROP DEFAULT', 'users.age: loses its default'],
  ['ALTER TABLE users ALTER COLUMN note SET NOT NULL', 'users.note: becomes NOT NULL'],
  ['ALTER TABLE users ADD COLUMN city text NOT NULL', 'users.city: is NOT NULL without a default'],
  ['ALTER TABLE users ADD COLUMN n int DEFAULT 0 UNIQUE', 'users.n: is unique and has one default for all rows'],
  ['ALTER TABLE users ADD CONSTRAINT adult CHECK (age > 17)', 'adult: rows of the previous release may violate it'],
  [
    'ALTER TABLE users ADD COLUMN a int; ALTER TABLE users ADD CONSTRAINT r CHECK (a > age)',
    'r: rows of the previous release may violate it',
  ],
  ['ALTER TABLE users ADD CONSTRAINT r CHECK (age > 17) NOT VALID', 'r: rows of the previous release may violate it'],
  ['CREATE UNIQUE INDEX one_age ON users (age)', 'one_age: rows of the previous release may violate it'],
  ['DROP INDEX users_name_key', 'users_name_key: is a unique key, which ON CONFLICT may need'],
  ['ALTER TABLE users DROP CONSTRAINT users_note_key', 'users_note_key: is a unique key, which ON CONFLICT may need'],
  ['DO $$ BEGIN PERFORM 1; END $$', 'DO: does what only a person can judge'],
  ['TRUNCATE users', 'TruncateStmt: this check does not know what the statement does to the previous release'],
])('refuses %s', async (sql, line) => {
  expect(await refusalsOf(sql)).toEqual([line]);
});

test('accepts what its head names with the release in which the last use was removed', async () => {
  const head = '-- Nobody reads the note.\n-- Last use removed in release 0.1.0: users.note, users_note_key\n';
  const both = 'ALTER TABLE users DROP CONSTRAINT users_note_key, DROP COLUMN note';
  expect(await refusalsOf(`${head}${both};`)).toEqual([]);
  expect(await refusalsOf(`${head}${both}, DROP COLUMN age;`)).toEqual(['users.age: is dropped']);
  expect(await refusalsOf(`SELECT 1;\n${head}${both};`)).toHaveLength(2);
});

test('refuses a release that is not out yet', async () => {
  const sql = '-- Last use removed in release 0.2.0: users.note\nALTER TABLE users DROP COLUMN note;';
  expect(await refusalsOf(sql)).toEqual(['users.note: 0.2.0 is no release of CHANGELOG.md']);
});

test('accepts a rule of which the head says that rows of the previous release meet it, and nothing else by this', async () => {
  const head = '-- Met by rows of the previous release: users_age_positive, users.note\n';
  const wider = 'ALTER TABLE users DROP CONSTRAINT users_age_positive, ADD CONSTRAINT users_age_positive CHECK (age >= 0)';
  expect(await refusalsOf(`${head}${wider};`)).toEqual([]);
  expect(await refusalsOf(`${head}ALTER TABLE users DROP COLUMN note;`)).toEqual(['users.note: is dropped']);
});

test('refuses a block of code until its head says that a person has looked at it', async () => {
  const block = "CREATE SCHEMA parts; DO $$ BEGIN EXECUTE 'DROP TABLE users'; END $$;";
  expect(await refusalsOf(block)).toEqual(['DO: does what only a person can judge']);
  expect(await refusalsOf(`-- Met by rows of the previous release: DO\n${block}`)).toEqual([]);
});

test('looks at no migration before the first one that is checked', async () => {
  const sql = 'DROP TABLE users';
  expect(await refusedStatements([BEFORE, { name: '0002_next', sql }], '0003_later', new Set())).toEqual([]);
});
