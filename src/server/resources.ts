import { fileURLToPath } from 'node:url';
import {
  ResourceNotFoundError,
  type CallToolResult,
  type InputRequiredResult,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { programsUri, projectUri, type Connection, type ClientRequest } from './connection.ts';
import { callTool, type RequestedCall } from './call-tool.ts';

/** Each stands for the call of a tool, so that there is one gate for both. */
type Offered<T> = T & { readonly tool: string };

const mimeType = 'text/plain';

const resources: readonly Offered<Resource>[] = [
  {
    tool: 'project',
    uri: projectUri,
    name: 'project',
    title: 'This project',
    description: 'Git state, packages, tasks, tests, databases and programs, in a page',
    mimeType,
  },
  {
    tool: 'list_programs',
    uri: programsUri,
    name: 'programs',
    title: 'Programs of this machine',
    description: 'Which development programs are here, with version and path, and which are not',
    mimeType,
  },
];

export const outputTemplate = 'toolcrib://output/{handle}';
export const fileTemplate = 'file:///{+path}';

const templates: readonly Offered<ResourceTemplateType>[] = [
  {
    tool: 'read_output',
    uriTemplate: outputTemplate,
    name: 'output',
    title: 'Output of a job or command',
    description: 'What was printed so far; an update is told when the job ends',
    mimeType,
  },
  {
    tool: 'read_file',
    uriTemplate: fileTemplate,
    name: 'file',
    title: 'File of the project',
    description: 'A file in one of the roots, as read_file shows it',
  },
];

/** Resources whose tool the operator has not left out. */
const offeredOf = <T>(all: readonly Offered<T>[], { tools }: Connection) =>
  all.filter(({ tool }) => tools.has(tool)).map(({ tool: _tool, ...one }) => one);
export const listResources = (connection: Connection) => offeredOf(resources, connection);
export const listTemplates = (connection: Connection) => offeredOf(templates, connection);

/** Throws ResourceNotFoundError, with what the tool says, for what is not there or cannot be read. */
export async function readResource(
  requested: ClientRequest,
  uri: string,
): Promise<ReadResourceResult | InputRequiredResult> {
  const call = callOf(uri);
  if (!call || !requested.connection.tools.has(call.name)) throw new ResourceNotFoundError(uri);
  const result = await callTool(requested, call);
  if (!('content' in result)) return result;
  const { content, isError } = result as CallToolResult;
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (isError) throw new ResourceNotFoundError(uri, text);
  const blobs = content.flatMap((part) => {
    if (part.type === 'image') return [{ uri, mimeType: part.mimeType, blob: part.data }];
    return part.type === 'resource' && 'blob' in part.resource ? [{ ...part.resource, uri }] : [];
  });
  const plain = call.name === 'read_file' ? text.replaceAll(/^ *\d+\t/gm, '') : text;
  return { contents: blobs.length > 0 ? blobs : [{ uri, mimeType, text: plain }] };
}

/** The call that an address stands for. */
function callOf(uri: string): RequestedCall | undefined {
  const fixed = resources.find((one) => one.uri === uri);
  if (fixed) return { name: fixed.tool, arguments: {} };
  const handle = /^toolcrib:\/\/output\/([\w-]+)$/.exec(uri)?.[1];
  if (handle !== undefined) return { name: 'read_output', arguments: { id: handle } };
  if (!uri.startsWith('file:///')) return undefined;
  try {
    return { name: 'read_file', arguments: { path: fileURLToPath(uri) } };
  } catch {
    // No address of a file on this system.
    return undefined;
  }
}
