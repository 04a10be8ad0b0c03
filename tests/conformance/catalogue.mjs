// What the server says that it has. Some of it declares an app, in the ways that servers do.

export const UI = 'ui://conformance/board';
const APP_HTML = 'text/html;profile=mcp-app';

const nothing = { type: 'object' };
const needs = (...names) => ({
  type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])), required: names,
});
const schema202012 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' }, email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};
const mirrored = {
  type: 'object',
  properties: { region: { 'type': 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
  required: ['region'],
};

const inputSchemas = {
  test_simple_text: nothing,
  test_image_content: nothing,
  test_audio_content: nothing,
  test_embedded_resource: nothing,
  test_multiple_content_types: nothing,
  test_error_handling: nothing,
  test_tool_with_logging: nothing,
  test_logging_tool: nothing,
  test_tool_with_progress: nothing,
  test_sampling: needs('prompt'),
  test_elicitation: needs('message'),
  test_elicitation_sep1034_defaults: nothing,
  test_elicitation_sep1330_enums: nothing,
  test_reconnection: nothing,
  json_schema_2020_12_tool: schema202012,
  test_custom_headers: mirrored,
  test_missing_capability: nothing,
  test_streaming_elicitation: nothing,
  test_trigger_tool_change: nothing,
  test_trigger_prompt_change: nothing,
  test_input_required_result_elicitation: nothing,
  test_input_required_result_sampling: nothing,
  test_input_required_result_list_roots: nothing,
  test_input_required_result_request_state: nothing,
  test_input_required_result_tampered_state: nothing,
  test_input_required_result_multiple_inputs: nothing,
  test_input_required_result_multi_round: nothing,
  test_input_required_result_capabilities: nothing,
  show_board: nothing,
  move_piece: nothing,
};
const declared = {
  show_board: { 'ui/resourceUri': UI },
  move_piece: { ui: { resourceUri: UI, visibility: ['app'] } },
};
export const tools = Object.entries(inputSchemas).map(([name, inputSchema]) => ({
  name, description: `What ${name} is for`, inputSchema, ...(declared[name] && { _meta: declared[name] }),
}));

const prompt = (name, ...args) => ({
  name, description: `What ${name} is for`, arguments: args.map(name => ({ name, description: name, required: true })),
});
export const prompts = [
  prompt('test_simple_prompt'),
  prompt('test_prompt_with_arguments', 'arg1', 'arg2'),
  prompt('test_prompt_with_embedded_resource', 'resourceUri'),
  prompt('test_prompt_with_image'),
  prompt('test_input_required_result_prompt'),
];

const resource = (uri, mimeType) => ({ uri, name: uri, description: `What ${uri} is`, mimeType });
export const resources = [
  resource('test://static-text', 'text/plain'),
  resource('test://static-binary', 'image/png'),
  resource('test://watched-resource', 'text/plain'),
  { ...resource(UI, APP_HTML), _meta: { ui: { csp: { connectDomains: ['https://api.example.com'] } } } },
];
export const templates = [
  { uriTemplate: 'test://template/{id}/data', name: 'data', description: 'Data by id', mimeType: 'application/json' },
];
