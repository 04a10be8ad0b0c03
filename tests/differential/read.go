// What Go's encoding/json makes of each body on stdin (four bytes of length, then the body): a line of JSON each, null where it takes
// the body for no JSON. Into structs, as servers decode, where it ignores the case of names; or with the argument "map" into maps.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"strconv"
)

type call struct {
	Method *string         `json:"method"`
	ID     any             `json:"id"`
	Params json.RawMessage `json:"params"`
}

type params struct {
	Name any `json:"name"`
	URI  any `json:"uri"`
}

type understood struct {
	Method *string `json:"method"`
	Name   *string `json:"name"`
	URI    *string `json:"uri"`
	ID     any     `json:"id"`
}

func text(value any) *string {
	if text, ok := value.(string); ok {
		return &text
	}
	return nil
}

func id(value any) any {
	switch value := value.(type) {
	case string:
		return map[string]string{"text": value}
	case float64:
		return map[string]string{"number": strconv.FormatFloat(value, 'g', -1, 64)}
	}
	return nil
}

func intoStruct(message json.RawMessage) (understood, error) {
	var call call
	if err := json.Unmarshal(message, &call); err != nil {
		return understood{}, err
	}
	var params params
	if call.Params = bytes.TrimSpace(call.Params); len(call.Params) > 0 && call.Params[0] == '{' {
		if err := json.Unmarshal(call.Params, &params); err != nil {
			return understood{}, err
		}
	}
	return understood{call.Method, text(params.Name), text(params.URI), id(call.ID)}, nil
}

func intoMap(message json.RawMessage) (understood, error) {
	var call map[string]any
	if err := json.Unmarshal(message, &call); err != nil {
		return understood{}, err
	}
	params, _ := call["params"].(map[string]any)
	return understood{text(call["method"]), text(params["name"]), text(params["uri"]), id(call["id"])}, nil
}

func read(body []byte, understand func(json.RawMessage) (understood, error)) any {
	messages := []json.RawMessage{body}
	if start := bytes.TrimSpace(body); len(start) > 0 && start[0] == '[' {
		if err := json.Unmarshal(body, &messages); err != nil {
			return nil
		}
	}
	all := []understood{}
	for _, message := range messages {
		one, err := understand(message)
		if err != nil {
			return nil
		}
		all = append(all, one)
	}
	return all
}

func main() {
	understand := intoStruct
	if len(os.Args) > 1 && os.Args[1] == "map" {
		understand = intoMap
	}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := json.NewEncoder(out)
	for {
		var length uint32
		if err := binary.Read(in, binary.BigEndian, &length); err != nil {
			return
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			panic(err)
		}
		if err := lines.Encode(read(body, understand)); err != nil {
			panic(err)
		}
	}
}
