export declare const ON_A_DATABASE: readonly string[];
export declare const BEFORE_ANY_SQL: readonly string[];
/** Path of a file or folder (with a slash at its end), and what differs between the databases. */
export declare const DIFFERS: readonly (readonly [path: string, difference: string])[];
export declare function testFilesOf(paths: readonly string[]): string[];
export declare function filesForBothDatabases(
  seed: string,
  options?: { isWhole?: boolean },
): { differing: string[]; sample: string[] };
export declare function filesOfProcesses(seed: string): string[];
export declare function filesLeftOut(seed: string, options: { isWhole: boolean }): string[];
