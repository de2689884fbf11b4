import type { Content, ToolResult } from '../core/tool.ts';
import type { Redactor } from '../machine/redact/redactor.ts';

/** The same result without the secrets that are known or look like some. */
export function redactedResult(result: ToolResult, { redact, redactValue }: Redactor): ToolResult {
  const { content, data } = result;
  return {
    ...result,
    ...(content && { content: content.map((part) => withoutSecrets(part, redact)) }),
    ...(data && { data: redactValue(data) as Readonly<Record<string, unknown>> }),
  };
}

function withoutSecrets(part: Content, redact: (text: string) => string): Content {
  if (part.type !== 'text') return part;
  const text = redact(part.text);
  return text === part.text ? part : { ...part, text };
}
