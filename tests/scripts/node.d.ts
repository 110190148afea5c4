/** What the tests use of Node.js; all of its types would give the page's scripts another `setTimeout`. */

declare module 'node:test' {
  export default function test(name: string, check: () => void | Promise<void>): void;
}

declare module 'node:assert/strict' {
  const assert: {
    ok(value: unknown): void;
    equal(actual: unknown, expected: unknown): void;
    deepEqual(actual: unknown, expected: unknown): void;
    match(value: string, expected: RegExp): void;
    throws(run: () => unknown, expected: RegExp): void;
  };
  export default assert;
}

declare module 'node:fs' {
  export function readdirSync(folder: URL): string[];
  export function readFileSync(file: string): Uint8Array;
  export function readFileSync(file: string, encoding: 'utf8'): string;
}

declare const process: { argv: string[] };
