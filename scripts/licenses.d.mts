interface Entry {
  readonly name: string;
  readonly version?: string;
  readonly license: string;
  readonly text: string;
}

export function licensesOf(root: string, inputs: readonly string[]): string;
export function licensesWith(root: string, more: readonly Entry[]): string;
