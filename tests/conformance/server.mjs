// The server that the suite is run against, on the official TypeScript SDK: what its scenarios call for, in both eras,
// and an app with a tool for it alone, so that the layers have something to do. Prints its address.

import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler, createRequestStateCodec, inputRequired, isLegacyRequest, ProtocolError, Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { prompts, resources, templates, tools, UI } from './catalogue.mjs';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const INVALID_PARAMS = -32602, MISSING_CAPABILITY = -32021;
const state = createRequestStateCodec({ key: randomBytes(32) });

const text = string => ({ type: 'text', text: string });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, string) => ({ type: 'resource', resource: { uri, mimeType, text: string } });
const says = (...content) => ({ content });
const outcome = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`;
const form = (message, properties, required) => ({ message, requestedSchema: { type: 'object', properties, required } });
const string = { type: 'string' };
const ask = {
  user_name: inputRequired.elicit(form('What is your name?', { name: string }, ['name'])),
  confirm: inputRequired.elicit(form('Please confirm', { ok: { type: 'boolean' } }, ['ok'])),
  step1: inputRequired.elicit(form('Step 1: What is your name?', { name: string }, ['name'])),
  step2: inputRequired.elicit(form('Step 2: What is your favorite color?', { color: string }, ['color'])),
  user_context: inputRequired.elicit(form('What context should the prompt use?', { context: string }, ['context'])),
  client_roots: inputRequired.listRoots(),
  capital_question: sampling('What is the capital of France?', 100),
  greeting: sampling('Generate a greeting', 50),
};
function sampling(question, maxTokens) {
  return inputRequired.createMessage({ messages: [{ role: 'user', content: text(question) }], maxTokens });
}
const pick = (...names) => Object.fromEntries(names.map(name => [name, ask[name]]));
/** What the client answered to a question; nothing where it has no such form. */
const answered = (ctx, name, member) => ctx.mcpReq.inputResponses?.[name]?.content?.[member];

/** What each tool does. `hub` tells of changes. */
const calls = {
  test_simple_text: () => says(text('This is a simple text response for testing.')),
  test_image_content: () => says(image),
  test_audio_content: () => says({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: () => says(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  test_multiple_content_types: () => says(
    text('Multiple content types test:'), image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ),
  test_error_handling: () => ({ isError: true, ...says(text('This tool intentionally returns an error for testing')) }),
  async test_tool_with_logging(_, ctx) {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', data);
      await sleep(50);
    }
    return says(text('Logged.'));
  },
  test_logging_tool: (args, ctx) => calls.test_tool_with_logging(args, ctx),
  async test_tool_with_progress(_, ctx) {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return says(text('Done.'));
  },
  async test_sampling({ prompt }, ctx) {
    const { content } = await ctx.mcpReq.requestSampling({ messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 });
    return says(text(`LLM response: ${content.text}`));
  },
  async test_elicitation({ message }, ctx) {
    const properties = {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    };
    return says(text(`User response: ${outcome(await ctx.mcpReq.elicitInput(form(message, properties, ['username', 'email'])))}`));
  },
  async test_elicitation_sep1034_defaults(_, ctx) {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    };
    return says(text(`Elicitation completed: ${outcome(await ctx.mcpReq.elicitInput(form('Defaults', properties, [])))}`));
  },
  async test_elicitation_sep1330_enums(_, ctx) {
    const options = ['option1', 'option2', 'option3'];
    const titled = ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} Option` }));
    const properties = {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    };
    return says(text(`Elicitation completed: ${outcome(await ctx.mcpReq.elicitInput(form('Enums', properties, [])))}`));
  },
  async test_reconnection(_, ctx) {
    await sleep(100);
    ctx.http?.closeSSE?.();
    await sleep(100);
    return says(text('Reconnection test completed.'));
  },
  json_schema_2020_12_tool: () => says(text('Valid.')),
  test_custom_headers: args => says(text(JSON.stringify(args))),
  test_missing_capability(_, ctx) {
    if (ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities']?.sampling) return says(text('Sampling is there.'));
    throw new ProtocolError(MISSING_CAPABILITY, 'Sampling is required', { requiredCapabilities: { sampling: {} } });
  },
  async test_streaming_elicitation(_, ctx) {
    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 'stream', progress: 1 } });
    return answered(ctx, 'user_name', 'name') ? says(text('Done.')) : inputRequired({ inputRequests: pick('user_name') });
  },
  test_trigger_tool_change: (_, ctx, hub) => { hub.toolsChanged(); return says(text('Changed.')); },
  test_trigger_prompt_change: (_, ctx, hub) => { hub.promptsChanged(); return says(text('Changed.')); },
  test_input_required_result_elicitation(_, ctx) {
    const name = answered(ctx, 'user_name', 'name');
    return typeof name === 'string' ? says(text(`Hello, ${name}!`)) : inputRequired({ inputRequests: pick('user_name') });
  },
  test_input_required_result_sampling(_, ctx) {
    const answer = ctx.mcpReq.inputResponses?.capital_question;
    return answer ? says(text(answer.content.text)) : inputRequired({ inputRequests: pick('capital_question') });
  },
  test_input_required_result_list_roots(_, ctx) {
    const roots = ctx.mcpReq.inputResponses?.client_roots?.roots;
    return roots ? says(text(JSON.stringify(roots))) : inputRequired({ inputRequests: pick('client_roots') });
  },
  async test_input_required_result_request_state(_, ctx) {
    const isBack = ctx.mcpReq.requestState()?.step === 'confirm' && answered(ctx, 'confirm', 'ok') !== undefined;
    if (isBack) return says(text('state-ok'));
    return inputRequired({ inputRequests: pick('confirm'), requestState: await state.mint({ step: 'confirm' }) });
  },
  test_input_required_result_tampered_state: (args, ctx) => calls.test_input_required_result_request_state(args, ctx),
  async test_input_required_result_multiple_inputs(_, ctx) {
    const names = ['user_name', 'greeting', 'client_roots'];
    if (names.every(name => ctx.mcpReq.inputResponses?.[name])) return says(text('All answers are there.'));
    return inputRequired({ inputRequests: pick(...names), requestState: await state.mint({ step: 'many' }) });
  },
  async test_input_required_result_multi_round(_, ctx) {
    const step = ctx.mcpReq.requestState()?.step;
    if (step === 2 && answered(ctx, 'step2', 'color')) return says(text('Two rounds are done.'));
    const next = step === 1 && answered(ctx, 'step1', 'name') ? 2 : 1;
    return inputRequired({ inputRequests: pick(`step${next}`), requestState: await state.mint({ step: next }) });
  },
  test_input_required_result_capabilities(_, ctx) {
    const declared = ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
    const wanted = { sampling: 'capital_question', elicitation: 'user_name', roots: 'client_roots' };
    const names = Object.keys(wanted).filter(name => declared[name]).map(name => wanted[name]);
    return inputRequired({ inputRequests: pick(...names) });
  },
  show_board: () => says(text('The board is shown.')),
  move_piece: () => says(text('Moved.')),
};

const messages = (...contents) => ({ messages: contents.map(content => ({ role: 'user', content })) });
const prompted = {
  test_simple_prompt: () => messages(text('This is a simple prompt for testing.')),
  test_prompt_with_arguments: ({ arg1, arg2 }) => messages(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  test_prompt_with_embedded_resource: ({ resourceUri }) => messages(
    resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
    text('Please process the embedded resource above.'),
  ),
  test_prompt_with_image: () => messages(image, text('Please analyze the image above.')),
  test_input_required_result_prompt(_, ctx) {
    const context = answered(ctx, 'user_context', 'context');
    return context ? messages(text(`Context: ${context}`)) : inputRequired({ inputRequests: pick('user_context') });
  },
};

function read(uri) {
  const [, id] = uri.match(/^test:\/\/template\/([^/]+)\/data$/) ?? [];
  if (id) {
    return { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
  }
  switch (uri) {
    case 'test://static-text': return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
    case 'test://static-binary': return { uri, mimeType: 'image/png', blob: PNG };
    case 'test://watched-resource': return { uri, mimeType: 'text/plain', text: 'Watched.' };
    case UI: return { uri, mimeType: 'text/html;profile=mcp-app', text: '<!doctype html><title>Board</title>' };
    default: throw new ProtocolError(INVALID_PARAMS, 'Resource not found', { uri });
  }
}

/** The member `name` of `all`, or an error. */
function known(all, name) {
  if (!Object.hasOwn(all, name)) throw new ProtocolError(INVALID_PARAMS, `${name} is not known`);
  return all[name];
}

function build({ era }, hub) {
  const changes = { listChanged: true };
  const capabilities = { tools: changes, prompts: changes, resources: { subscribe: true }, completions: {}, logging: {} };
  const options = { capabilities, requestState: { verify: state.verify } };
  const server = new Server({ name: 'conformance', version: '1.0.0' }, options);
  const handle = (method, handler) => server.setRequestHandler(method, handler);
  handle('tools/list', () => ({ tools }));
  handle('tools/call', ({ params }, ctx) => known(calls, params.name)(params.arguments ?? {}, ctx, hub(server)));
  handle('prompts/list', () => ({ prompts }));
  handle('prompts/get', ({ params }, ctx) => known(prompted, params.name)(params.arguments ?? {}, ctx));
  handle('resources/list', () => ({ resources }));
  handle('resources/templates/list', () => ({ resourceTemplates: templates }));
  handle('resources/read', ({ params }) => ({ contents: [read(params.uri)] }));
  handle('completion/complete', () => ({ completion: { values: ['paris', 'park'], total: 2, hasMore: false } }));
  if (era === 'legacy') {
    handle('resources/subscribe', () => ({}));
    handle('resources/unsubscribe', () => ({}));
  }
  return server;
}

/** Events of the streams of one session, so that a client can come back for them. */
class Events {
  events = [];
  async storeEvent(streamId, message) {
    this.events.push({ streamId, message });
    return `${streamId}.${this.events.length - 1}`;
  }
  async replayEventsAfter(last, { send }) {
    const at = last.lastIndexOf('.'), streamId = last.slice(0, at), from = Number(last.slice(at + 1)) + 1;
    for (const [index, event] of this.events.entries()) {
      const isMissed = index >= from && event.streamId === streamId && Object.keys(event.message).length > 0;
      if (isMissed) await send(`${streamId}.${index}`, event.message);
    }
    return streamId;
  }
}

const sessions = new Map();

/** A request of the legacy era, in the session that it names, or in a new one. */
async function legacy(request) {
  const id = request.headers.get('mcp-session-id');
  let transport = sessions.get(id);
  if (!transport && id) return new Response(null, { status: 404 });
  if (!transport) {
    transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID, eventStore: new Events(), retryInterval: 200,
      onsessioninitialized: id => { sessions.set(id, transport); },
      onsessionclosed: id => { sessions.delete(id); },
    });
    const hub = server => ({ toolsChanged: () => server.sendToolListChanged(), promptsChanged: () => server.sendPromptListChanged() });
    await build({ era: 'legacy' }, hub).connect(transport);
  }
  return transport.handleRequest(request);
}

const modern = createMcpHandler(context => build(context, () => modern.notify), { legacy: 'reject' });
const fetch = async (request, options) => await isLegacyRequest(request) ? legacy(request) : modern.fetch(request, options);
const handle = toNodeHandler({ fetch });
const isHostFine = localhostHostValidation(), isOriginFine = localhostOriginValidation();
const server = createServer((request, response) => {
  if (isHostFine(request, response) && isOriginFine(request, response)) handle(request, response);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
