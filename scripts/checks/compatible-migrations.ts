/** Which statements of a migration the previous release cannot work with: it goes on for as long as a deploy lasts (docs/database.md). */
import { type AlterTableCmd, type ColumnDef, type Constraint, type Node, parse } from 'libpg-query';

export interface Migration {
  name: string;
  sql: string;
}

/** A statement that breaks the previous release unless the head of the migration names its object. */
interface Breaking {
  /** `table`, `table.column`, or the name of a constraint or an index. */
  object: string;
  reason: string;
  /** Rows of the previous release may meet it after all, which only a person can see. */
  isOnRows?: boolean;
}

/** What the migrations up to now have made. */
interface Schema {
  /** Type of each column, by `table.column`. */
  types: Map<string, string>;
  /** Names of unique indexes and keys, which ON CONFLICT of a release may need. */
  unique: Set<string>;
}

/** What one migration has made itself. */
interface Made {
  tables: Set<string>;
  /** New columns of other tables, by `table.column`; whether the previous release leaves each row a value of its own, or none. */
  columns: Map<string, { isDistinct: boolean }>;
}

/**
 * @param migrations all of them, in order
 * @param from name of the first one that is checked
 * @param releases versions that were released
 * @returns a line for each statement that is refused
 */
export async function refusedStatements(
  migrations: readonly Migration[],
  from: string,
  releases: ReadonlySet<string>,
): Promise<string[]> {
  const schema: Schema = { types: new Map(), unique: new Set() };
  const refused: string[] = [];
  for (const { name, sql } of migrations) {
    const { stmts = [] } = await parse(sql);
    const made: Made = { tables: new Set(), columns: new Map() };
    const breaking = stmts.flatMap(({ stmt }) => breakingPartsOf(stmt!, schema, made));
    if (name < from) continue;
    const head = readHead(sql);
    const unknown = [...head.contracted].filter(([, release]) => !releases.has(release));
    refused.push(...unknown.map(([object, release]) => `${name}: ${object}: ${release} is no release of CHANGELOG.md`));
    const excused = ({ object, isOnRows }: Breaking) => head.contracted.has(object) || (isOnRows && head.met.has(object));
    refused.push(...breaking.filter((one) => !excused(one)).map(({ object, reason }) => `${name}: ${object}: ${reason}`));
  }
  return refused;
}

const CONTRACTED = /^-- Last use removed in release (\S+): (.+)$/;
const MET = /^-- Met by rows of the previous release: (.+)$/;

/** The comment at the beginning of a migration. */
function readHead(sql: string): { contracted: Map<string, string>; met: Set<string> } {
  const contracted = new Map<string, string>();
  const met = new Set<string>();
  for (const line of sql.split('\n')) {
    if (!line.startsWith('--')) break;
    const [, release, objects] = CONTRACTED.exec(line) ?? [];
    for (const object of objects?.split(', ') ?? []) contracted.set(object, release!);
    for (const object of MET.exec(line)?.[1]?.split(', ') ?? []) met.add(object);
  }
  return { contracted, met };
}

/** Kinds of statements that take nothing away. */
const HARMLESS = [
  ...[
    'CreateSeqStmt',
    'CreateEnumStmt',
    'CreateExtensionStmt',
    'CreateFunctionStmt',
    'CommentStmt',
    'VariableSetStmt',
    'CreateSchemaStmt',
  ],
  ...['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'SelectStmt'],
];

function breakingPartsOf(statement: Node, schema: Schema, made: Made): Breaking[] {
  const [kind] = Object.keys(statement) as [string];
  if (HARMLESS.includes(kind)) return [];
  if ('CreateStmt' in statement) {
    const table = statement.CreateStmt.relation!.relname!;
    made.tables.add(table);
    for (const part of statement.CreateStmt.tableElts ?? []) {
      if ('ColumnDef' in part) schema.types.set(`${table}.${part.ColumnDef.colname}`, typeOf(part.ColumnDef));
      if ('Constraint' in part) recordKey(part.Constraint, schema);
    }
    return [];
  }
  if ('IndexStmt' in statement) {
    const { idxname, unique, relation, indexParams = [] } = statement.IndexStmt;
    if (!unique) return [];
    schema.unique.add(idxname!);
    const columns = indexParams.map((param) => ('IndexElem' in param ? param.IndexElem.name : undefined));
    return onRows({ object: idxname!, table: relation!.relname!, columns, isUnique: true }, made);
  }
  if ('DropStmt' in statement) {
    const { objects = [], removeType } = statement.DropStmt;
    const names = objects.map(lastName);
    if (removeType !== 'OBJECT_INDEX') return names.map((object) => ({ object, reason: 'is dropped' }));
    return names.filter((name) => schema.unique.has(name)).map(keyDropped);
  }
  if ('AlterTableStmt' in statement && statement.AlterTableStmt.objtype === 'OBJECT_TABLE') {
    const { relation, cmds = [] } = statement.AlterTableStmt;
    const table = relation!.relname!;
    const parts = cmds.flatMap((cmd) => ('AlterTableCmd' in cmd ? breakingPartOf(cmd.AlterTableCmd, table, schema, made) : []));
    return made.tables.has(table) ? [] : parts;
  }
  if ('RenameStmt' in statement) {
    const { relation, subname, newname } = statement.RenameStmt;
    const object = [relation?.relname, subname].filter(Boolean).join('.');
    return [{ object: object || newname!, reason: 'is renamed' }];
  }
  if ('DoStmt' in statement) return [{ object: 'DO', reason: 'does what only a person can judge', isOnRows: true }];
  return [{ object: kind, reason: 'this check does not know what the statement does to the previous release' }];
}

function breakingPartOf(command: AlterTableCmd, table: string, schema: Schema, made: Made): Breaking[] {
  const { subtype, name, def } = command;
  const object = `${table}.${name}`;
  const column = def && 'ColumnDef' in def ? def.ColumnDef : null;
  switch (subtype) {
    case 'AT_AddColumn':
      return addedColumn(table, column!, schema, made);
    case 'AT_DropColumn':
      return [{ object, reason: 'is dropped' }];
    case 'AT_SetNotNull':
      return [{ object, reason: 'becomes NOT NULL', isOnRows: true }];
    case 'AT_ColumnDefault':
      return def ? [] : [{ object, reason: 'loses its default' }];
    case 'AT_AlterColumnType': {
      const [before, after] = [schema.types.get(object), typeOf(column!)];
      schema.types.set(object, after);
      return isWider(before, after) ? [] : [{ object, reason: `is ${before} and becomes ${after}` }];
    }
    case 'AT_AddConstraint': {
      const constraint = def && 'Constraint' in def ? def.Constraint : {};
      recordKey(constraint, schema);
      return onRows({ object: constraint.conname!, table, columns: columnsOf(constraint), isUnique: isKey(constraint) }, made);
    }
    case 'AT_DropConstraint':
      return schema.unique.has(name!) ? [keyDropped(name!)] : [];
    case 'AT_DropNotNull':
    case 'AT_ValidateConstraint':
    case 'AT_SetStatistics':
    case 'AT_SetStorage':
    case 'AT_SetRelOptions':
      return [];
    default:
      return [{ object: table, reason: `this check does not know what ${subtype} does to the previous release` }];
  }
}

function addedColumn(table: string, column: ColumnDef, schema: Schema, made: Made): Breaking[] {
  const object = `${table}.${column.colname}`;
  schema.types.set(object, typeOf(column));
  const constraints = (column.constraints ?? []).flatMap((part) => ('Constraint' in part ? part.Constraint : []));
  const has = (...kinds: Constraint['contype'][]) => constraints.some(({ contype }) => kinds.includes(contype));
  const fallback = constraints.find(({ contype }) => contype === 'CONSTR_DEFAULT')?.raw_expr;
  const isFilled = fallback !== undefined || has('CONSTR_GENERATED', 'CONSTR_IDENTITY');
  const isDistinct = isFilled ? fallback === undefined || nodesOf(fallback).some((node) => 'FuncCall' in node) : true;
  made.columns.set(object, { isDistinct });
  if (has('CONSTR_NOTNULL', 'CONSTR_PRIMARY') && !isFilled) return [{ object, reason: 'is NOT NULL without a default' }];
  return has('CONSTR_UNIQUE') && !isDistinct ? [{ object, reason: 'is unique and has one default for all rows' }] : [];
}

interface RowRule {
  object: string;
  table: string;
  /** Undefined where an expression is in its place. */
  columns: readonly (string | undefined)[];
  isUnique: boolean;
}

/** A rule for the rows of a table: harmless where the table is new, or all columns are, which the previous release does not write. */
function onRows({ object, table, columns, isUnique }: RowRule, made: Made): Breaking[] {
  if (made.tables.has(table)) return [];
  const fresh = columns.map((column) => made.columns.get(`${table}.${column}`));
  const isMet = isUnique ? fresh.some((column) => column?.isDistinct) : fresh.length > 0 && fresh.every(Boolean);
  return isMet ? [] : [{ object, reason: 'rows of the previous release may violate it', isOnRows: true }];
}

const keyDropped = (object: string): Breaking => ({ object, reason: 'is a unique key, which ON CONFLICT may need' });

const isKey = ({ contype }: Constraint) => contype === 'CONSTR_UNIQUE' || contype === 'CONSTR_PRIMARY';

function recordKey(constraint: Constraint, { unique }: Schema): void {
  if (isKey(constraint) && constraint.conname) unique.add(constraint.conname);
}

/** The columns that a constraint is about. */
function columnsOf({ keys, fk_attrs, raw_expr }: Constraint): (string | undefined)[] {
  const named = [...(keys ?? []), ...(fk_attrs ?? [])];
  const read = raw_expr ? nodesOf(raw_expr).flatMap((node) => ('ColumnRef' in node ? node.ColumnRef.fields!.at(-1)! : [])) : [];
  return [...named, ...read].map((node) => ('String' in node ? node.String.sval : undefined));
}

/** A node with all nodes in it. */
function nodesOf(node: Node): Node[] {
  const inner = (value: unknown): Node[] => {
    if (Array.isArray(value)) return value.flatMap(inner);
    if (value === null || typeof value !== 'object') return [];
    return [value as Node, ...Object.values(value).flatMap(inner)];
  };
  return inner(node);
}

/** The last part of a name that may have a schema before it, and parameters behind it. */
function lastName(node: Node): string {
  const parts = 'ObjectWithArgs' in node ? node.ObjectWithArgs.objname! : [node];
  const names = parts.flatMap(nodesOf).flatMap((part) => ('sval' in part ? String(part.sval) : []));
  return names.at(-1) ?? '?';
}

/** As `varchar(12)`. */
function typeOf({ typeName }: ColumnDef): string {
  const name = lastName(typeName!.names!.at(-1)!);
  const sizes = (typeName!.typmods ?? [])
    .flatMap(nodesOf)
    .flatMap((node) => ('ival' in node && typeof node.ival === 'number' ? node.ival : []));
  const array = typeName!.arrayBounds ? '[]' : '';
  return `${name}${sizes.length > 0 ? `(${sizes.join(',')})` : ''}${array}`;
}

const LENGTH = /^varchar\((\d+)\)$/;

/** Only text may become longer: another type is another value in the answers that the previous release reads. */
function isWider(before: string | undefined, after: string): boolean {
  const [from, to] = [LENGTH.exec(before ?? '')?.[1], LENGTH.exec(after)?.[1]];
  return before === after || (from !== undefined && (to !== undefined ? Number(to) >= Number(from) : after === 'text'));
}
