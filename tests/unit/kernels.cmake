cubevp_test(kernels_test
  SOURCES attention_decode_test.cpp attention_prefill_test.cpp attention_inputs_test.cpp
    attention_fixture.cpp ../support/fake_machine.cpp
  LINK cubevp_kernels cubevp_runtime cubevp_numerics
  LABELS unit)
