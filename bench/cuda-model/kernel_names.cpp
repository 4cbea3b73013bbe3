// SPDX-License-Identifier: Apache-2.0
// See kernel_names.h.
#include "bench/cuda-model/kernel_names.h"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <string>

namespace {

std::string demangled(const char* symbol) {
    int status = 0;
    char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::string result = status == 0 ? text : symbol;
    free(text);
    return result;
}

// "mabd_exec::tag<&(void k<3>(int))>" -> "void k<3>(int)"
std::string inside_tag(const std::string& text) {
    static const char START[] = "mabd_exec::tag<&";
    if (text.rfind(START, 0) != 0) return text;
    std::string inside = text.substr(sizeof(START) - 1, text.size() - sizeof(START));
    if (inside.size() > 1 && inside.front() == '(') inside = inside.substr(1, inside.size() - 2);
    return inside;
}

// Up to the arguments: the first '(' outside of template arguments.
std::string without_arguments(const std::string& text) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '<') depth++;
        if (text[i] == '>') depth--;
        if (text[i] == '(' && depth == 0) return text.substr(0, i);
    }
    return text;
}

// Behind the last blank and the last "::" that are outside of template arguments.
std::string without_scope(const std::string& text) {
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '<') depth++;
        if (text[i] == '>') depth--;
        if (depth == 0 && (text[i] == ' ' || text[i] == ':')) start = i + 1;
    }
    return text.substr(start);
}

// "<(mabd_affine_body_kind)3>" -> "<3>"
std::string without_types(const std::string& text) {
    std::string result;
    int depth = 0;
    for (const char c : text) {
        depth += c == '(';
        if (depth == 0) result += c;
        depth -= c == ')';
    }
    return result;
}

} // namespace

const char* model_kernel_name(const char* symbol, char* name, size_t size) {
    const std::string text = inside_tag(demangled(symbol));
    snprintf(name, size, "%s", without_types(without_scope(without_arguments(text))).c_str());
    return name;
}
