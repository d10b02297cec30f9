import { describe, expect, it } from 'vitest';
import { countProcedures, filterProcedures, printGroup, readArea } from '../../../scripts/client-declarations.ts';

const SHARED = 'ctx: import("./context.ts").Context;\n meta: import("./operation-meta.ts").OperationMeta;';
const routerOf = (record: string) =>
  `import("@trpc/server").TRPCBuiltRouter<{\n ${SHARED}\n errorShape: { data: { detail: import("../core/errors.ts").X['body'] } };\n}, import("@trpc/server").TRPCDecorateCreateRouterOptions<{\n${record}\n}>>`;

const DECLARATION = `export declare const appRouter: ${routerOf(`    cabinet: ${routerOf(`        money: ${routerOf(`            spend: import("@trpc/server").TRPCMutationProcedure<{
                input: {
                    amount: number;
                    mode?: "a;b" | "c}d" | undefined;
                };
                output: {
                    at: Date;
                    Date: string;
                    note: "Date";
                    list: {
                        when: Date | null;
                    }[];
                };
                meta: import("./operation-meta.ts").OperationMeta;
            }>;
            get: import("@trpc/server").TRPCQueryProcedure<{
                input: void;
                output: Record<string, (x: number) => void>;
                meta: import("./operation-meta.ts").OperationMeta;
            }>;`)};
        "odd-name": ${routerOf('')};`)};
    admin: ${routerOf('')};`)};
export type AppRouter = typeof appRouter;
`;

describe('the shipped declaration', () => {
  it('writes the procedures out without a name of the server', () => {
    const text = printGroup(readArea(DECLARATION, 'cabinet'), 'cabinet', (path) =>
      path === 'cabinet.money.get' ? 'Reads */ it' : null,
    );
    expect(text).toBe(`{
  money: {
    spend: Mutation<{
      amount: number;
      mode?: "a;b" | "c}d" | undefined;
    }, {
      at: string;
      Date: string;
      note: "Date";
      list: {
        when: string | null;
      }[];
    }>;
    /** Reads * / it */
    get: Query<void, Record<string, (x: number) => void>>;
  };
  "odd-name": {};
}`);
  });

  it('keeps the wanted procedures and drops groups without any', () => {
    const area = filterProcedures(readArea(DECLARATION, 'cabinet'), (path) => path === 'cabinet.money.get', 'cabinet');
    expect(countProcedures(area)).toBe(1);
    expect([...area.members.keys()]).toEqual(['money']);
  });

  it('refuses text of another form', () => {
    expect(() => readArea('export declare const other: {};', 'cabinet')).toThrow('no appRouter');
    expect(() => readArea(DECLARATION, 'shop')).toThrow('no area shop');
  });
});
